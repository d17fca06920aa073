const armed = process.env.NODE_ENV === 'test' ? (process.env.CRASH_POINTS ?? '').split(',') : [];

/**
 * Named place at which a test can kill the process as `kill -9` does, to verify the recovery from a crash. `CRASH_POINTS`
 * is a list of names, and works only with `NODE_ENV=test`. The first caller at each name is suspended for ever, in the
 * order of the list. The last name kills the process, with all suspended callers. Other calls do nothing.
 */
export function crashPoint(name: string): Promise<void> | undefined {
  if (armed[0] !== name) return undefined;
  armed.shift();
  if (armed.length === 0) process.kill(process.pid, 'SIGKILL');
  process.stdout.write(`held at ${name}\n`);
  return new Promise(() => undefined);
}
