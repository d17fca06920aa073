import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../test/support/free-port.js';

const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 10_000;
/** Unit of CPU times in `/proc`: 100 per second on Linux (`getconf CLK_TCK`). */
const TICKS_PER_SECOND = 100;
const PROBE = new URL('child-probe.mjs', import.meta.url).pathname;

export interface ChildOptions {
  /** Program and arguments. */
  readonly command: readonly string[];
  readonly core: number;
  readonly env?: NodeJS.ProcessEnv;
  /** Port that the program will listen on. */
  readonly port: number;
  /** Discards the standard error of the program. */
  readonly silent?: boolean;
}

export interface NodeOptions {
  /** Arguments of `node`: its options and the program. */
  readonly args: readonly string[];
  readonly core: number;
  readonly env?: NodeJS.ProcessEnv;
  /** Defaults to a free port. */
  readonly port?: number;
  readonly silent?: boolean;
}

/** A server in a process of its own that is pinned to one core and listens on `port`. */
export class PinnedChild {
  private stopping = false;

  private constructor(
    private readonly process: ChildProcess,
    readonly port: number,
  ) {
    process.once('exit', (code, signal) => {
      if (!this.stopping) console.error(`the server on port ${port} ended unexpectedly: ${code ?? signal}`);
    });
  }

  /** Resolves when the port is open. @throws Error if the program ends first, or after 30 s */
  static async start({ command, core, env, port, silent }: ChildOptions): Promise<PinnedChild> {
    const child = spawn('taskset', ['-c', String(core), ...command], {
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'ignore', silent ? 'ignore' : 'inherit', 'ipc'],
    });
    const server = new PinnedChild(child, port);
    try {
      await server.waitUntilOpen();
    } catch (error) {
      await server.stop();
      throw error;
    }
    return server;
  }

  /** Starts a Node program with its port in `PORT`. The program ends together with the benchmark, even after a crash. */
  static async startNode({ args, core, env, port, silent }: NodeOptions): Promise<PinnedChild> {
    const listenPort = port ?? (await freePort());
    return PinnedChild.start({
      command: [process.execPath, '--expose-gc', '--import', PROBE, ...args],
      core,
      port: listenPort,
      silent,
      env: { HOST: '127.0.0.1', PORT: String(listenPort), ...env },
    });
  }

  /** Null while the program runs, and after a signal ended it. */
  get exitCode(): number | null {
    return this.process.exitCode;
  }

  /** CPU time of all threads of the process and its children, user and system. */
  cpuSeconds(): number {
    const { pid } = this.process;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    const pids = children === '' ? [] : children.split(' ');
    return [String(pid), ...pids].map(cpuTicks).reduce((a, b) => a + b) / TICKS_PER_SECOND;
  }

  /** Memory of a Node program after a full garbage collection. */
  async memory(): Promise<NodeJS.MemoryUsage> {
    this.process.send('memory');
    const [usage] = (await once(this.process, 'message', {
      signal: AbortSignal.timeout(STOP_TIMEOUT_MS),
    })) as [NodeJS.MemoryUsage];
    return usage;
  }

  stop(): Promise<void> {
    return this.end('SIGTERM');
  }

  /** Simulates a crash. */
  kill(): Promise<void> {
    return this.end('SIGKILL');
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    this.stopping = true;
    if (this.hasEnded()) return;
    const ended = once(this.process, 'exit');
    this.process.kill(signal);
    const timer = setTimeout(() => this.process.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await ended;
    clearTimeout(timer);
  }

  private hasEnded(): boolean {
    return this.process.exitCode !== null || this.process.signalCode !== null;
  }

  private async waitUntilOpen(): Promise<void> {
    const deadline = performance.now() + START_TIMEOUT_MS;
    while (!(await isOpen(this.port))) {
      if (this.hasEnded()) throw new Error('the server ended before it listened');
      if (performance.now() > deadline) throw new Error('the server did not listen within 30 s');
      await delay(50);
    }
  }
}

function cpuTicks(pid: string): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // starts with the third field
  return Number(fields[11]) + Number(fields[12]);
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
