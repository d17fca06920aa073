const armed = process.env.NODE_ENV === 'test' ? (process.env.CRASH_POINTS ?? '').split(',') : [];

/**
 * A named place where a test may have the process killed as by `kill -9`, to show what a crash leaves behind.
 * `CRASH_POINTS` (only with `NODE_ENV=test`) is a list of names: who comes to the first one is held there for good, then
 * who comes to the second, and at the last one the process dies with all that it holds. Does nothing otherwise.
 */
export function crashPoint(name: string): Promise<void> | undefined {
  if (armed[0] !== name) return undefined;
  armed.shift();
  if (armed.length === 0) process.kill(process.pid, 'SIGKILL');
  process.stdout.write(`held at ${name}\n`);
  return new Promise(() => undefined);
}
