import { readFileSync } from 'node:fs';

/** Whether the process id is in use, also by a zombie: a process that has ended and whose parent has not waited for it. */
export function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Whether the process runs, which a zombie does not. */
export function isAlive(pid: number): boolean {
  return exists(pid) && readStat(pid)?.state !== 'Z';
}

/** Returns the start time of a process, which tells it from earlier processes with the same id; null if it is unknown. */
export function findStartTime(pid: number): string | null {
  const stat = readStat(pid);
  if (stat) return stat.startedAt;
  return pid === process.pid ? String(performance.timeOrigin) : null;
}

/** @returns undefined on systems without `/proc` */
function readStat(pid: number): { state: string; startedAt: string } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in parentheses and may contain spaces; state is the third, start the 22nd.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0]!, startedAt: fields[19]! };
  } catch {
    return undefined;
  }
}
