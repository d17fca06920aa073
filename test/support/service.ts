import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import supertest from 'supertest';
import { testVariables } from './app.js';
import { eventually } from './eventually.js';
import { sessionFor } from './sessions.js';

const START_TIMEOUT_MS = 60_000;
const PROGRAM = 'dist/main.js';

/** Exit code or signal of a process. */
interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Working directory and user of a program. */
interface Place {
  readonly cwd?: string;
  readonly uid?: number;
  readonly gid?: number;
}

/** The built program in a process of its own. */
export interface Program {
  /** Standard output so far. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Standard output and error so far, in the order of arrival. */
  readonly output: () => string;
  readonly exited: Promise<Exit>;
  /** Sends the signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<Exit>;
}

/** A program that serves. */
export interface Service extends Program {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  readonly anonymous: ReturnType<typeof supertest.agent>;
  /** Requests of a user. */
  as(user: string): Promise<ReturnType<typeof supertest.agent>>;
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
 * Starts the program on a free port. What still runs when the tests of the file are over is killed.
 * @param variables its whole environment
 * @param place where the program is, and as whom it runs: here and as us, when left out
 */
export function startProgram(variables: NodeJS.ProcessEnv, place: Place = {}): Program {
  const env = { PATH: process.env.PATH, PORT: '0', ...variables };
  const child = spawn(process.execPath, [PROGRAM], { env, ...place });
  running.add(child);
  const exited = once(child, 'close').then(([code, signal]: unknown[]) => {
    running.delete(child);
    return { code, signal } as Exit;
  });
  const all: string[] = [];
  const collect = (stream: Readable): string[] => {
    const own: string[] = [];
    stream.setEncoding('utf8').on('data', (text: string) => {
      own.push(text);
      all.push(text);
    });
    return own;
  };
  const [out, err] = [collect(child.stdout), collect(child.stderr)];
  return {
    ...{ stdout: () => out.join(''), stderr: () => err.join(''), output: () => all.join('') },
    exited,
    end: (signal) => {
      child.kill(signal);
      return exited;
    },
  };
}

/** Waits until a program is ready. @throws Error when it ends instead */
export async function serving(program: Program): Promise<Service> {
  const { output, exited } = program;
  const url = await Promise.race([urlFrom(output), exited.then(() => Promise.reject(new Error(output())))]);
  return {
    ...program,
    ...{ url, anonymous: supertest.agent(url) },
    as: async (user) => supertest.agent(url).set('Authorization', `Bearer ${await sessionFor(user)}`),
  };
}

/**
 * Starts the program and waits until it is ready.
 * @param variables its environment, beside what {@link testVariables} says
 */
export function startService(
  databaseUrl: string,
  dataDir: string,
  variables: NodeJS.ProcessEnv = {},
): Promise<Service> {
  const usual = { NODE_ENV: 'test', HOST: '127.0.0.1', ...testVariables(databaseUrl, dataDir) };
  return serving(startProgram({ ...usual, ...variables }));
}

/** The address that the program says it listens on, once it is ready there. */
async function urlFrom(output: () => string): Promise<string> {
  return eventually(async () => {
    const address = /"listening on":"([^"]+)"/.exec(output())?.[1];
    if (address === undefined) throw new Error(`not listening: ${output()}`);
    await supertest(`http://${address}`).get('/readyz').expect(200);
    return `http://${address}`;
  }, START_TIMEOUT_MS);
}
