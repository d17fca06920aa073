// Runs inside a measured process: tells the CPU time that the process has used so far, over a Unix socket.
import { createServer } from 'node:net';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  createServer((socket) => {
    socket
      .on('data', () => socket.write(`${JSON.stringify(process.cpuUsage())}\n`))
      .on('error', () => undefined);
    socket.unref();
  })
    .listen(process.env.CPU_PROBE_SOCKET)
    .unref();
}
