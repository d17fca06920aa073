const armed = process.env.NODE_ENV === 'test' ? process.env.CRASH_POINT : undefined;

/**
 * A named place where a test may have the process killed as by `kill -9` (`CRASH_POINT=<name>`, only with
 * `NODE_ENV=test`), to show what a crash leaves behind. Does nothing otherwise.
 */
export function crashPoint(name: string): void {
  if (armed === name) process.kill(process.pid, 'SIGKILL');
}
