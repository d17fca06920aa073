import { SingleBar } from 'cli-progress';

/** Progress bar on standard error, if that is a terminal. */
export class Progress {
  private readonly bar: SingleBar;
  private total: number;

  /** @param total may be an estimate: the bar grows if there are more */
  constructor(label: string, total: number) {
    this.total = total;
    this.bar = new SingleBar({
      format: `${label} [{bar}] {value}/{total}`,
      stream: process.stderr,
      clearOnComplete: true,
      hideCursor: true,
    });
    this.bar.start(total, 0);
  }

  advance(): void {
    this.bar.increment();
    if (this.bar.getProgress() < 1) return;
    this.total++;
    this.bar.setTotal(this.total);
  }

  /** Clears the line of the bar for other output; the bar reappears below it. */
  clear(): void {
    if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  }

  end(): void {
    this.bar.stop();
  }
}
