import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import supertest from 'supertest';
import { testVariables } from './app.js';
import { eventually } from './eventually.js';
import { sessionFor } from './sessions.js';

const START_TIMEOUT_MS = 20_000;
const PROGRAM = 'dist/main.js';

/** How a process came to its end. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The built program in a process of its own. */
export interface Service {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  readonly exited: Promise<Exit>;
  /** What it has written so far, to standard output and standard error. */
  readonly output: () => string;
  readonly anonymous: ReturnType<typeof supertest.agent>;
  /** Requests of a user. */
  as(user: string): Promise<ReturnType<typeof supertest.agent>>;
  /** Sends the signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<Exit>;
}

const running = new Set<ChildProcessWithoutNullStreams>();
const folders = new Set<string>();

afterAll(async () => {
  const ends = [...running].map((child) => once(child, 'close'));
  for (const child of running) child.kill('SIGKILL');
  await Promise.all(ends);
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

/** A folder that is removed when the tests of the file are over. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mintkeep-service-'));
  folders.add(folder);
  return folder;
}

/**
 * Starts the program on a free port and waits until it is ready. What still runs when the tests of the file are over is
 * killed.
 * @param variables its whole environment, beside what {@link testVariables} says
 */
export async function startService(
  databaseUrl: string,
  dataDir: string,
  variables: NodeJS.ProcessEnv = {},
): Promise<Service> {
  const child = spawn(process.execPath, [PROGRAM], {
    env: {
      ...{ PATH: process.env.PATH, NODE_ENV: 'test', HOST: '127.0.0.1', PORT: '0' },
      ...testVariables(databaseUrl, dataDir),
      ...variables,
    },
  });
  running.add(child);
  const exited = once(child, 'close').then(([code, signal]: unknown[]) => {
    running.delete(child);
    return { code, signal } as Exit;
  });
  const chunks: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk));
  }
  const output = () => chunks.join('');
  const url = await Promise.race([urlFrom(output), exited.then(() => Promise.reject(new Error(output())))]);
  return {
    ...{ url, exited, output, anonymous: supertest.agent(url) },
    as: async (user) => supertest.agent(url).set('Authorization', `Bearer ${await sessionFor(user)}`),
    end: (signal) => {
      child.kill(signal);
      return exited;
    },
  };
}

/** The address that the program says it listens on, once it is ready there. */
async function urlFrom(output: () => string): Promise<string> {
  return eventually(async () => {
    const address = /listening on +(\S+)/.exec(output())?.[1];
    if (address === undefined) throw new Error(`not listening: ${output()}`);
    await supertest(`http://${address}`).get('/readyz').expect(200);
    return `http://${address}`;
  }, START_TIMEOUT_MS);
}
