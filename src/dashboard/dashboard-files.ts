import { fileURLToPath } from 'node:url';
import { Injectable, Logger } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { Settings } from '../config/settings.js';
import { contentPolicy } from './content-policy.js';
import { StaticFiles } from './static-files.js';

/** Two levels up, from the sources as well as from the build. */
const FOLDER = fileURLToPath(new URL('../../dashboard/dist', import.meta.url));
const PAGE = 'index.html';

/** Names of assets contain a hash of their content. */
const FOREVER = 'public, max-age=31536000, immutable';
/** The page names the assets of the current version. */
const REVALIDATE = 'no-cache';

interface Exchange {
  readonly request: Request;
  readonly response: Response;
  readonly next: NextFunction;
}

/** The built application. */
@Injectable()
export class DashboardFiles {
  private readonly files = new StaticFiles(FOLDER);
  private readonly policy: string;

  constructor({ dashboard, publicUrl }: Settings) {
    this.policy = contentPolicy(dashboard!.signIn, publicUrl);
    if (!this.files.has(PAGE)) {
      new Logger(DashboardFiles.name).warn('the dashboard is not built, and not served: run npm run build');
    }
  }

  /** @returns whether the application is built; otherwise nothing was sent */
  sendPage(exchange: Exchange): boolean {
    if (!this.files.has(PAGE)) return false;
    exchange.response.set('Content-Security-Policy', this.policy);
    this.files.send(PAGE, exchange, REVALIDATE);
    return true;
  }

  /** @returns whether the asset exists; otherwise nothing was sent */
  sendAsset(name: string, exchange: Exchange): boolean {
    const path = `assets/${name}`;
    if (!this.files.has(path)) return false;
    this.files.send(path, exchange, FOREVER);
    return true;
  }
}
