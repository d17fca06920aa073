import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../test/support/free-port.js';

const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 10_000;
/** The unit of times in `/proc`: fixed at 100 a second on Linux (`getconf CLK_TCK`). */
const TICKS_PER_SECOND = 100;
const PROBE = new URL('child-probe.mjs', import.meta.url).pathname;

export interface ChildOptions {
  /** Program and arguments. */
  readonly command: readonly string[];
  readonly core: number;
  readonly env?: NodeJS.ProcessEnv;
  /** Where it is going to listen. */
  readonly port: number;
  /** Says nothing, whatever goes wrong. */
  readonly silent?: boolean;
}

export interface NodeOptions {
  /** What follows `node`: its options and the program. */
  readonly args: readonly string[];
  readonly core: number;
  readonly env?: NodeJS.ProcessEnv;
  /** A free one when left out. */
  readonly port?: number;
  readonly silent?: boolean;
}

/** A server in a process on one core, listening on `port`. */
export class PinnedChild {
  private stopping = false;

  private constructor(
    private readonly process: ChildProcess,
    readonly port: number,
  ) {
    process.once('exit', (code, signal) => {
      if (!this.stopping) console.error(`the server on port ${port} ended by itself: ${code ?? signal}`);
    });
  }

  /** Comes back when the port is open. @throws Error when it does not open */
  static async start({ command, core, env, port, silent }: ChildOptions): Promise<PinnedChild> {
    const child = spawn('taskset', ['-c', String(core), ...command], {
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'ignore', silent ? 'ignore' : 'inherit', 'ipc'],
    });
    const started = new PinnedChild(child, port);
    try {
      await started.opened();
    } catch (error) {
      await started.stop();
      throw error;
    }
    return started;
  }

  /** A Node process that is told its port as `PORT`. It ends when we do, however we end. */
  static async startNode({ args, core, env, port, silent }: NodeOptions): Promise<PinnedChild> {
    const own = port ?? (await freePort());
    const command = [process.execPath, '--expose-gc', '--import', PROBE, ...args];
    return PinnedChild.start({
      ...{ command, core, port: own, silent },
      env: { HOST: '127.0.0.1', PORT: String(own), ...env },
    });
  }

  /** Null while it runs, and when a signal has ended it. */
  get exitCode(): number | null {
    return this.process.exitCode;
  }

  /** CPU time used so far by all threads, user and system, of the process and its children. */
  cpuSeconds(): number {
    const { pid } = this.process;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    const pids = children === '' ? [] : children.split(' ');
    return [String(pid), ...pids].map(cpuTicks).reduce((a, b) => a + b) / TICKS_PER_SECOND;
  }

  /** Memory after a full garbage collection; of a Node process. */
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

  /** As a crash. */
  kill(): Promise<void> {
    return this.end('SIGKILL');
  }

  private async end(how: NodeJS.Signals): Promise<void> {
    this.stopping = true;
    if (this.hasEnded()) return;
    const ended = once(this.process, 'exit');
    this.process.kill(how);
    const timer = setTimeout(() => this.process.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await ended;
    clearTimeout(timer);
  }

  private hasEnded(): boolean {
    return this.process.exitCode !== null || this.process.signalCode !== null;
  }

  private async opened(): Promise<void> {
    const deadline = performance.now() + START_TIMEOUT_MS;
    while (!(await isOpen(this.port))) {
      if (this.hasEnded()) throw new Error('a server ended instead of starting');
      if (performance.now() > deadline) throw new Error('a server did not start in time');
      await delay(50);
    }
  }
}

function cpuTicks(pid: string): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // from the third field on
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
