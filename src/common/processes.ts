import { readFileSync } from 'node:fs';

/** Whether there is a process of this id, be it one that has ended and that its parent has not looked at yet. */
export function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Whether a process of this id runs. */
export function isAlive(pid: number): boolean {
  return exists(pid) && statOf(pid)?.state !== 'Z';
}

/** What tells a process from others that have had its id; null where that cannot be told. */
export function startOf(pid: number): string | null {
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
