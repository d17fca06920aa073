import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { readUnlessAbsent } from '../../common/files.js';
import { exists } from '../../common/processes.js';
import { commandLine } from './account.js';
import type { Account } from './account.js';
import { ENVIRONMENT } from './cluster.js';

const STATES = ['starting', 'ready', 'stopping'] as const;

/** A server process as its lock file describes it. */
export interface RunningPostmaster {
  readonly pid: number;
  readonly port: number;
  readonly state: (typeof STATES)[number];
}

const STOP_TIMEOUT_MS = 10_000;
const POLL_INTERVAL_MS = 20;
const LOG_TAIL_CHARACTERS = 2_000;

/** Another server is there or just going, or somebody took the port: the next attempt may succeed. */
const PASSING_FAILURE =
  /lock file "postmaster\.pid" already exists|is still in use|could not create any TCP\/IP sockets/;

/** The server process of a cluster, be it our child or left behind by a process that was killed. */
export class Postmaster {
  private readonly lockFile: string;
  private child?: ChildProcess;
  private childLives = false;
  private logSizeBefore = 0;

  constructor(
    private readonly cluster: string,
    private readonly logPath: string,
    private readonly program: string,
    private readonly account: Account,
    private readonly settings: Readonly<Record<string, string>>,
  ) {
    this.lockFile = join(cluster, 'postmaster.pid');
  }

  /** Whether a process that we started still runs, ready or not. */
  get hasChild(): boolean {
    return this.childLives;
  }

  /**
   * Undefined when no server runs. A lock file whose process is something else by now is removed, because
   * PostgreSQL would believe it; one without a process PostgreSQL replaces by itself.
   */
  find(): RunningPostmaster | undefined {
    const [pid, , , port, , , , status] = readUnlessAbsent(this.lockFile)?.split('\n') ?? [];
    if (!pid || !exists(Number(pid))) return undefined;
    if (runsIn(Number(pid), this.cluster)) {
      const state = STATES.find((name) => name === status?.trim()) ?? 'starting'; // the file is just being written
      return { pid: Number(pid), port: Number(port), state };
    }
    if (exists(Number(pid))) rmSync(this.lockFile, { force: true });
    return undefined;
  }

  /** In a process group of its own, so that Ctrl-C in a terminal does not stop it before we have drained. */
  spawn(port: number): void {
    const settings = {
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      ...this.settings,
      port: String(port),
    };
    const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const [command, args] = commandLine(this.account, this.program, ['-D', this.cluster, ...options]);
    const log = openSync(this.logPath, 'a', 0o600);
    this.logSizeBefore = fstatSync(log).size;
    this.childLives = true;
    this.child = spawn(command, args, {
      detached: true,
      stdio: ['ignore', log, log],
      cwd: '/',
      env: ENVIRONMENT,
      ...this.account.spawnAs,
    });
    this.child.once('exit', () => (this.childLives = false));
    this.child.once('error', () => (this.childLives = false));
    this.child.unref();
    closeSync(log);
  }

  /** To be asked when the process that we started has ended. */
  throwIfItCannotStart(): void {
    const log = this.logTail();
    if (this.child?.exitCode === 0 || PASSING_FAILURE.test(log)) return;
    throw new Error(`the embedded PostgreSQL does not start: ${log || `cannot run ${this.program}`}`);
  }

  /** What PostgreSQL wrote since we started it; the end of it. */
  logTail(): string {
    if (!existsSync(this.logPath)) return '';
    const log = readFileSync(this.logPath).subarray(this.logSizeBefore).toString();
    return log.slice(-LOG_TAIL_CHARACTERS).trim();
  }

  /** SIGINT stops it fast, in order; SIGQUIT at once, with a recovery at the next start. */
  signal(name: 'SIGINT' | 'SIGQUIT'): void {
    const pid = this.childLives ? this.child?.pid : this.find()?.pid;
    try {
      if (pid !== undefined) process.kill(pid, name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // it has just ended
    }
  }

  async stop(): Promise<void> {
    for (const name of ['SIGINT', 'SIGQUIT'] as const) {
      this.signal(name);
      if (await this.endsWithin(STOP_TIMEOUT_MS)) return;
    }
    throw new Error(`the embedded PostgreSQL (process ${this.child?.pid ?? this.find()?.pid}) does not stop`);
  }

  private async endsWithin(timeoutMs: number): Promise<boolean> {
    const deadline = performance.now() + timeoutMs;
    while (this.childLives || this.find()) {
      if (performance.now() > deadline) return false;
      await setTimeout(POLL_INTERVAL_MS);
    }
    return true;
  }
}

/** Every server process works in the folder of its cluster. */
function runsIn(pid: number, folder: string): boolean {
  if (process.platform !== 'linux') {
    const { stdout } = spawnSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' });
    return stdout.includes(`-D ${folder} `);
  }
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(folder);
  } catch {
    return false;
  }
}
