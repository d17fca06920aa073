// Runs inside a measured process: tells over a Unix socket the CPU time that the process has used so far ('?'), or
// that it needs for a fixed piece of work ('w'), which shows how much other programs slow the machine down.
import { createServer } from 'node:net';
import { isMainThread } from 'node:worker_threads';

const WORK = JSON.stringify(Array.from({ length: 5_000 }, (_, index) => ({ index, name: `name ${index}` })));

function workTime() {
  const before = process.cpuUsage();
  for (let round = 0; round < 3; round++) JSON.stringify(JSON.parse(WORK));
  return process.cpuUsage(before);
}

if (isMainThread) {
  createServer((socket) => {
    socket
      .on('data', (command) => {
        const usage = command.toString() === 'w' ? workTime() : process.cpuUsage();
        socket.write(`${JSON.stringify(usage)}\n`);
      })
      .on('error', () => undefined);
    socket.unref();
  })
    .listen(process.env.CPU_PROBE_SOCKET)
    .unref();
}
