import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { startService, temporaryFolder } from '../support/service.js';
import type { Service } from '../support/service.js';
import type { CostlyInput } from './costly-inputs.js';

const PROBE = pathToFileURL(join(import.meta.dirname, '../support/cpu-probe.mjs')).href;
/** Attempts at one input: the service shares the machine with other programs, which only ever add to its CPU time. */
const MAX_TRIES = 15;
/** Measurements of the fixed work at the start; their least is the time on a machine that is not disturbed. */
const FIRST_CALIBRATIONS = 30;
const MS_PER_US = 1 / 1_000;

/** A service in its own process, whose CPU time can be read between two requests. */
export class MeasuredService {
  /** Least CPU time of the probe's fixed work so far. */
  private leastWorkMs = Infinity;

  private constructor(
    readonly service: Service,
    private readonly probe: Socket,
  ) {}

  static async start(databaseUrl: string, variables: NodeJS.ProcessEnv): Promise<MeasuredService> {
    const folder = await temporaryFolder();
    const socket = join(folder, 'cpu.sock');
    const probing = { NODE_OPTIONS: `--import=${PROBE}`, CPU_PROBE_SOCKET: socket };
    const service = await startService(databaseUrl, folder, { ...variables, ...probing });
    const probe = connect(socket);
    await once(probe, 'connect');
    const measured = new MeasuredService(service, probe);
    for (let count = 0; count < FIRST_CALIBRATIONS; count++) await measured.slowdown();
    return measured;
  }

  /**
   * Measures the CPU time that the service needs for one input. A busy machine more than doubles it (shared caches,
   * shared cores), so a try beyond the bound is divided by the slowdown of a fixed piece of work right after it.
   * @returns the least of several tries; the first that is within the bound is the last
   */
  async cpuMsOf({ bytes, limitMs }: CostlyInput, hopelessFactor: number): Promise<number> {
    let leastMs = Infinity;
    for (let attempt = 0; attempt < MAX_TRIES && leastMs > limitMs; attempt++) {
      const beforeMs = await this.cpuMs();
      await exchange(this.service, bytes());
      const ms = (await this.cpuMs()) - beforeMs;
      leastMs = Math.min(leastMs, ms > limitMs ? ms / (await this.slowdown()) : ms);
      if (leastMs > limitMs * hopelessFactor) break;
    }
    return leastMs;
  }

  close(): void {
    this.probe.destroy();
  }

  /** CPU time of the fixed work now, as a multiple of its least so far. */
  private async slowdown(): Promise<number> {
    const workMs = await this.cpuMs('w');
    this.leastWorkMs = Math.min(this.leastWorkMs, workMs);
    return workMs / this.leastWorkMs;
  }

  /** User and system time of all threads since the start (`?`), or that of the fixed work (`w`). */
  private async cpuMs(command: '?' | 'w' = '?'): Promise<number> {
    this.probe.write(command);
    const [response] = (await once(this.probe, 'data')) as [Buffer];
    const { user, system } = JSON.parse(response.toString()) as NodeJS.CpuUsage;
    return (user + system) * MS_PER_US;
  }
}

/** Sends a request and reads until the service closes the connection. @throws Error when it never responds */
async function exchange({ url }: Pick<Service, 'url'>, bytes: Buffer): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const pieces: Buffer[] = [];
  socket.on('data', (piece: Buffer) => pieces.push(piece)).on('error', () => undefined);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write(bytes);
  await closed;
  const response = Buffer.concat(pieces).toString('latin1');
  if (!response.startsWith('HTTP/1.1 ')) throw new Error(`no response to ${bytes.toString('latin1', 0, 80)}`);
  return response;
}
