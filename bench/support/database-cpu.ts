import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Workspace } from './workspace.js';

/** Unit of CPU times in `/proc/PID/stat` on Linux. */
const MS_PER_TICK = 10;
/** A server process may end between two reads. */
const ATTEMPTS = 5;

/** CPU time of all processes of PostgreSQL, including those that have ended, such as closed connections. */
export function databaseCpuMs({ dataDir }: Pick<Workspace, 'dataDir'>): number {
  const [postmaster = ''] = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n');
  for (let attempt = 1; ; attempt++) {
    try {
      return cpuMsOf(postmaster);
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
  }
}

function cpuMsOf(postmaster: string): number {
  const stat = readFileSync(`/proc/${postmaster}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // starts with the third field
  const ticks = fields.slice(11, 15).map(Number); // user and system time, then those of ended children
  const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8').trim().split(' ');
  const nanoseconds = children.map((pid) =>
    Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]),
  );
  return sum(ticks) * MS_PER_TICK + sum(nanoseconds) / 1e6;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
