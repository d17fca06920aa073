import { Controller, Get, Next, Param, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { NextFunction, Request, Response } from 'express';
import { Public } from '../auth/public.decorator.js';
import { acceptsHtml } from '../common/api/accepts-html.js';
import { NotFound } from '../common/api/domain-error.js';
import { DashboardFiles } from './dashboard-files.js';

/** Paths that never show the application, so that a wrong address of an API remains an error. */
const NO_PAGES = /^\/(me|v1|auth|oauth|docs|assets|dashboard)(\/|$)/i;

/** The application, for every path of its own. Must come after all other routes but the last. */
@Public() // the application signs people in
@ApiExcludeController()
@Controller()
export class DashboardPagesController {
  constructor(private readonly files: DashboardFiles) {}

  /** @throws NotFound */
  @Get('assets/:name')
  asset(
    @Param('name') name: string,
    @Req() request: Request,
    @Res() response: Response,
    @Next() next: NextFunction,
  ): void {
    if (!this.files.sendAsset(name, { request, response, next })) throw new NotFound();
  }

  @Get('{*everything}')
  page(@Req() request: Request, @Res() response: Response, @Next() next: NextFunction): void {
    if (NO_PAGES.test(request.path)) return next();
    response.vary('Accept');
    if (!acceptsHtml(request) || !this.files.sendPage({ request, response, next })) next();
  }
}
