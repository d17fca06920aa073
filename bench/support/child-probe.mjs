// Runs inside a measured process: reports its memory on request, and ends it together with the benchmark.
process.on('message', () => {
  globalThis.gc();
  process.send(process.memoryUsage());
});
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
