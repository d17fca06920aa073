import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { eventually } from '../../../test/support/eventually.js';
import { exists, isAlive, findStartTime } from './processes.js';

it('finds a running process alive, with a start time of its own', () => {
  expect([process.pid, process.ppid].map(isAlive)).toEqual([true, true]);
  expect(findStartTime(process.pid)).not.toBe(findStartTime(process.ppid));
});

it('does not find a process that its parent has waited for', async () => {
  const child = spawn('true');
  await once(child, 'exit');
  expect(exists(child.pid!)).toBe(false);
  expect(isAlive(child.pid!)).toBe(false);
  expect(findStartTime(child.pid!)).toBeNull();
});

it('finds a zombie, but not alive', async () => {
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
