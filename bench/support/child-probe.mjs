// Runs inside a measured process: tells its memory when asked, and ends it when the measuring process is gone.
process.on('message', () => {
  globalThis.gc();
  process.send(process.memoryUsage());
});
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
