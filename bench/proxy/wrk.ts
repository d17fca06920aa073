import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Route } from './gateway.js';
import { CONTENT, PATH, requestBody } from './requests.js';

interface WrkReport {
  readonly requests: number;
  readonly seconds: number;
}

export const CONNECTIONS = 16;

const SCRIPT = join(import.meta.dirname, 'wrk.lua');
/** A response may be late on a busy machine without being an error. */
const TIMEOUT_SECONDS = 10;
const run = promisify(execFile);

/** Sends requests of 1 KiB over 16 connections, each as soon as the previous response is complete. @throws Error if one fails */
export async function runWrk({ port, headers }: Route, seconds: number, folder: string): Promise<WrkReport> {
  const body = join(folder, 'wrk-body.json');
  await writeFile(body, requestBody('plain'));
  const options = {
    '--threads': '1',
    '--connections': String(CONNECTIONS),
    '--duration': `${seconds}s`,
    '--timeout': `${TIMEOUT_SECONDS}s`,
    '--script': SCRIPT,
  };
  const scriptArguments = [body, ...Object.entries({ ...CONTENT, ...headers }).flat()];
  const url = `http://127.0.0.1:${port}${PATH}`;
  const { stdout } = await run('wrk', [...Object.entries(options).flat(), url, '--', ...scriptArguments]);
  const report = JSON.parse(/report (.*)/.exec(stdout)![1]!) as WrkReport & { errors: number };
  if (report.errors > 0) throw new Error(`${report.errors} of ${report.requests} requests failed`);
  if (report.requests === 0) throw new Error('no request was completed');
  return report;
}
