import { hostname } from 'node:os';
import { isAlive, startOf } from '../../common/processes.js';

/** A process, so that another one can tell whether it still runs. */
export interface ProcessIdentity {
  readonly hostname: string;
  readonly pid: number;
  /** Tells it from an earlier one with the same pid (in a container it is always 1); null where that cannot be told. */
  readonly startedAt: string | null;
}

export function thisProcess(): ProcessIdentity {
  return { hostname: hostname(), pid: process.pid, startedAt: startOf(process.pid) };
}

/** Whether the process has ended; undefined for one on another host, which cannot be asked. */
export function hasEnded(other: ProcessIdentity): boolean | undefined {
  if (other.hostname !== hostname()) return undefined;
  if (!isAlive(other.pid)) return true;
  const startedAt = startOf(other.pid);
  return startedAt !== null && other.startedAt !== null && startedAt !== other.startedAt;
}
