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
import { readUnlessAbsent } from '../common/process/files.js';
import { exists } from '../common/process/processes.js';
import { commandLine } from './account.js';
import type { Account } from './account.js';
import { ENVIRONMENT } from './cluster.js';

const STATES = ['starting', 'ready', 'stopping'] as const;

/** Server process as described by its lock file. */
export interface RunningPostmaster {
  readonly pid: number;
  readonly port: number;
  readonly state: (typeof STATES)[number];
}

const STOP_TIMEOUT_MS = 10_000;
const POLL_INTERVAL_MS = 20;
const LOG_TAIL_CHARACTERS = 2_000;

/** Log lines of failures that a retry may resolve: another server runs or stops, or another program took the port. */
const TRANSIENT_FAILURE =
  /lock file "postmaster\.pid" already exists|is still in use|could not create any TCP\/IP sockets/;

/** Server process of a cluster: a child of this process, or left running by a killed process. */
export class Postmaster {
  private readonly lockFile: string;
  private child?: ChildProcess;
  private isChildAlive = false;
  private logSizeBefore = 0;

  constructor(
    private readonly cluster: string,
    readonly logPath: string,
    private readonly program: string,
    private readonly account: Account,
    private readonly settings: Readonly<Record<string, string>>,
  ) {
    this.lockFile = join(cluster, 'postmaster.pid');
  }

  /** Whether a child process runs, ready or not. */
  get hasChild(): boolean {
    return this.isChildAlive;
  }

  /**
   * Reads the lock file. Undefined when no server runs. Removes a lock file whose process id belongs to another
   * program, because PostgreSQL would refuse to start. PostgreSQL itself replaces a lock file without a process.
   */
  find(): RunningPostmaster | undefined {
    const [pid, , , port, , , , status] = readUnlessAbsent(this.lockFile)?.split('\n') ?? [];
    if (!pid || !exists(Number(pid))) return undefined;
    if (runsIn(Number(pid), this.cluster)) {
      const state = STATES.find((name) => name === status?.trim()) ?? 'starting'; // the file is being written
      return { pid: Number(pid), port: Number(port), state };
    }
    if (exists(Number(pid))) rmSync(this.lockFile, { force: true });
    return undefined;
  }

  /** Starts the server in its own process group. Otherwise Ctrl-C would stop it before the service has drained. */
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
    this.isChildAlive = true;
    this.child = spawn(command, args, {
      detached: true,
      stdio: ['ignore', log, log],
      cwd: '/',
      env: ENVIRONMENT,
      ...this.account.spawnAs,
    });
    this.child.once('exit', () => (this.isChildAlive = false));
    this.child.once('error', () => (this.isChildAlive = false));
    this.child.unref();
    closeSync(log);
  }

  /** Phrase that completes "the server ended". Undefined if the server is not a child of this process, or still runs. */
  get exitReason(): string | undefined {
    const { exitCode = null, signalCode = null } = this.child ?? {};
    if (signalCode !== null) return `by ${signalCode}`;
    return exitCode === null ? undefined : `with exit code ${exitCode}`;
  }

  /** Throws if a retry is useless. Call this after the child process has ended. */
  assertTransientFailure(): void {
    const log = this.logTail();
    if (this.child?.exitCode === 0 || TRANSIENT_FAILURE.test(log)) return;
    throw new Error(`the embedded PostgreSQL does not start: ${log || `cannot run ${this.program}`}`);
  }

  /** Returns the end of the output since {@link spawn}. */
  logTail(): string {
    if (!existsSync(this.logPath)) return '';
    const log = readFileSync(this.logPath).subarray(this.logSizeBefore).toString();
    return log.slice(-LOG_TAIL_CHARACTERS).trim();
  }

  /** Sends a signal. SIGINT is a fast shutdown; SIGQUIT is an immediate one, which needs a recovery at the next start. */
  signal(name: 'SIGINT' | 'SIGQUIT'): void {
    const pid = this.isChildAlive ? this.child?.pid : this.find()?.pid;
    try {
      if (pid !== undefined) process.kill(pid, name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // the process has just ended
    }
  }

  async stop(): Promise<void> {
    for (const name of ['SIGINT', 'SIGQUIT'] as const) {
      this.signal(name);
      if (await this.waitForExit(STOP_TIMEOUT_MS)) return;
    }
    throw new Error(`the embedded PostgreSQL (process ${this.child?.pid ?? this.find()?.pid}) does not stop`);
  }

  private async waitForExit(timeoutMs: number): Promise<boolean> {
    const deadline = performance.now() + timeoutMs;
    while (this.isChildAlive || this.find()) {
      if (performance.now() > deadline) return false;
      await setTimeout(POLL_INTERVAL_MS);
    }
    return true;
  }
}

/** Whether a process is a server of the cluster. Every server process has the folder as its working directory. */
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
