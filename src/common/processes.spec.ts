import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
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
  const parent = spawn('sh', ['-c', 'cat <&3 & echo $!; exec sleep 60'], {
    stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
  });
  try {
    const [line] = (await once(createInterface(parent.stdout!), 'line')) as [string];
    const child = Number(line);
    expect(isAlive(child)).toBe(true);
    // A shell might wait for it; `sleep` does not.
    await eventually(() => expect(readFileSync(`/proc/${parent.pid}/comm`, 'utf8')).toBe('sleep\n'));
    parent.stdio[3]!.destroy();
    await eventually(() => expect(isAlive(child)).toBe(false));
    expect(exists(child)).toBe(true);
  } finally {
    parent.kill();
  }
});
