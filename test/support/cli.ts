import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { KeyAuthenticator } from '../../src/keys/key-authenticator.js';
import { startApp } from './app.js';
import type { Agent, TestApp } from './app.js';
import { decide } from './device-flow.js';
import { eventually } from './eventually.js';

/** Path of the built client. */
export const CLI = resolve('cli/bin/mintkeep.js');
/** The client exits after its timeout of 30 s for a request, at the latest. On a busy machine it starts slowly. */
const EXIT_TIMEOUT_MS = 120_000;

const folders = new Set<string>();
const running = new Set<ChildProcess>();

afterAll(async () => {
  for (const child of running) child.kill('SIGKILL');
  await Promise.all([...folders].map((folder) => rm(folder, { recursive: true, force: true })));
});

/** Result of a command. */
export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that runs. */
export interface CliProcess {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly result: Promise<CliResult>;
}

interface CliOptions {
  readonly env?: NodeJS.ProcessEnv;
  /** Standard input, which is a pipe and is closed after this text; null leaves it open. */
  readonly input?: string | null;
  readonly cwd?: string;
}

/** Runs the built client as a user of its own, with a home folder of its own. */
export class CliUser {
  private constructor(readonly home: string) {}

  static async create(): Promise<CliUser> {
    const home = await mkdtemp(join(tmpdir(), 'mintkeep-home-'));
    folders.add(home);
    return new CliUser(home);
  }

  get folder(): string {
    return join(this.home, '.config/mintkeep');
  }

  get file(): string {
    return join(this.folder, 'credentials.json');
  }

  /** The whole environment of the client. */
  environment(env: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
    return { PATH: process.env.PATH, HOME: this.home, MINTKEEP_KEYRING: 'off', SHELL: '/bin/bash', ...env };
  }

  start(args: readonly string[], options: CliOptions = {}): CliProcess {
    return startProcess(process.execPath, [CLI, ...args], { ...options, env: this.environment(options.env) });
  }

  run(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
    return this.start(args, options).result;
  }

  /** Starts the client in a pseudo-terminal. Standard output and error are one stream there. */
  startInTerminal(args: readonly string[], env: NodeJS.ProcessEnv = {}): CliProcess {
    const words = [process.execPath, CLI, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
    return startProcess('script', ['-qec', `exec ${words.join(' ')}`, '/dev/null'], {
      input: null,
      env: this.environment({ TERM: 'xterm', ...env }),
    });
  }

  /** Logs in, and approves as this user. */
  async login(server: string, approver: Agent, args: readonly string[] = [], env = {}): Promise<CliResult> {
    const login = this.start(['login', server, ...args], { env });
    const code = await userCodeOf(login);
    await decide(approver, code, 'approve').expect(200);
    return login.result;
  }
}

/** Waits for the code that a login shows on a line of its own. */
export function userCodeOf({ stdout, stderr }: CliProcess): Promise<string> {
  return eventually(() => {
    const output = stderr() + stdout();
    const code = /^([A-Z]{4}-[A-Z]{4})\r?$/m.exec(stripColours(output))?.[1];
    if (code === undefined) throw new Error(`no code: ${output}`);
    return code;
  });
}

export function stripColours(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replace(/\u001b\[[\d;]*[A-Za-z]/g, '');
}

/** Service with an account, and a user of the client. */
export interface CliFixture {
  readonly app: TestApp;
  readonly ada: Agent;
  readonly user: CliUser;
  /** Whether the service accepts a key. */
  works(secret: string): Promise<boolean>;
}

/** Starts a service for all tests of a file, and creates a user of the client for each of them. */
export function useCli(): CliFixture {
  const works = async (secret: string) =>
    (await fixture.app.app.get(KeyAuthenticator).authenticate(secret)) !== undefined;
  const fixture = { works } as { -readonly [Name in keyof CliFixture]: CliFixture[Name] };
  beforeAll(async () => {
    fixture.app = await startApp({ DEVICE_CODES_PER_MINUTE: '1000' });
    fixture.ada = await fixture.app.as('ada');
  });
  afterAll(() => fixture.app.close());
  beforeEach(async () => {
    fixture.user = await CliUser.create();
  });
  return fixture;
}

/** Runs a program without a terminal. */
function startProcess(
  file: string,
  args: readonly string[],
  { env, input = '', cwd }: CliOptions,
): CliProcess {
  const child = spawn(file, args, { env, cwd, detached: true });
  running.add(child);
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => (output[name] += text));
  child.stdin.on('error', () => undefined);
  if (input !== null) child.stdin.end(input);
  const timer = setTimeout(() => child.kill('SIGKILL'), EXIT_TIMEOUT_MS);
  const result = once(child, 'close').then(([code, signal]: (number | string | null)[]) => {
    clearTimeout(timer);
    running.delete(child);
    if (signal !== null) output.stderr += `\n(ended by ${signal})`;
    return { code: code as number | null, ...output };
  });
  return { child, stdout: () => output.stdout, stderr: () => output.stderr, result };
}

/** The exit code of a command after a signal. */
export const codeAfter = (signal: NodeJS.Signals): number => 128 + constants.signals[signal];
