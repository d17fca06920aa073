/** Milliseconds of CPU of a synchronous task: the median of some runs, behind one that warms it up. */
export function cpuMs(task: () => void, runs = 5): number {
  task();
  const measured = Array.from({ length: runs }, () => {
    const before = process.cpuUsage();
    task();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return measured.sort((a, b) => a - b)[Math.floor(runs / 2)]!;
}
