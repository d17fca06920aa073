import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { eventually } from '../../test/support/eventually.js';
import { exists, isAlive, startOf } from './processes.js';

it('a process that runs is alive, and is told from others by its start', () => {
  expect([process.pid, process.ppid].map(isAlive)).toEqual([true, true]);
  expect(startOf(process.pid)).not.toBe(startOf(process.ppid));
});

it('one that has been waited for is not there', async () => {
  const child = spawn('true');
  await once(child, 'exit');
  expect(exists(child.pid!)).toBe(false);
  expect(isAlive(child.pid!)).toBe(false);
  expect(startOf(child.pid!)).toBeNull();
});

it('one that nobody has waited for is there, and not alive', async () => {
  const parent = spawn('sh', ['-c', 'true & echo $!; exec sleep 60']);
  try {
    const [line] = (await once(createInterface(parent.stdout), 'line')) as [string];
    await eventually(() => expect(isAlive(Number(line))).toBe(false));
    expect(exists(Number(line))).toBe(true);
  } finally {
    parent.kill();
  }
});
