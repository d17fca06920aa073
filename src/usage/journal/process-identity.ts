import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';

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

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return statOf(pid)?.state !== 'Z'; // killed, and its parent has not looked yet
}

function startOf(pid: number): string | null {
  const stat = statOf(pid);
  if (stat) return stat.startedAt;
  return pid === process.pid ? String(performance.timeOrigin) : null;
}

/** Undefined where there is no `/proc`. */
function statOf(pid: number): { state: string; startedAt: string } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in parentheses and may hold anything; state is the third, start the 22nd.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0]!, startedAt: fields[19]! };
  } catch {
    return undefined;
  }
}
