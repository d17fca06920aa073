/**
 * CPU time of this process during the work, in milliseconds. Other processes on a busy machine do not add to it, as
 * they do to the time that passes.
 */
export function cpuTimeMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
