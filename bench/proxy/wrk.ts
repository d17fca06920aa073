import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Route } from './gateway.js';
import { CONTENT, PATH, requestBody } from './requests.js';

export interface WrkReport {
  readonly requests: number;
  readonly seconds: number;
}

export const CONNECTIONS = 16;

const SCRIPT = join(import.meta.dirname, 'wrk.lua');
const run = promisify(execFile);

/** Requests of 1 KiB at 16 connections, each sent as soon as the last one is answered. @throws Error when one fails */
export async function runWrk({ port, headers }: Route, seconds: number, folder: string): Promise<WrkReport> {
  const body = join(folder, 'wrk-body.json');
  await writeFile(body, requestBody('plain'));
  const { stdout } = await run('wrk', [
    ...['--threads', '1', '--connections', String(CONNECTIONS), '--duration', `${seconds}s`],
    ...['--script', SCRIPT, `http://127.0.0.1:${port}${PATH}`, '--', body],
    ...Object.entries({ ...CONTENT, ...headers }).flat(),
  ]);
  const report = JSON.parse(/report (.*)/.exec(stdout)![1]!) as WrkReport & { errors: number };
  if (report.errors > 0) throw new Error(`${report.errors} requests failed:\n${stdout}`);
  return report;
}
