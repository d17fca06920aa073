import { SingleBar } from 'cli-progress';

/** A bar on standard error, while that is a terminal. */
export class Progress {
  private readonly bar: SingleBar;
  private total: number;

  /** @param total a guess is enough: the bar grows with what comes beyond it */
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

  /** Makes room for a line on the same terminal; the bar comes back below it. */
  clear(): void {
    if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  }

  end(): void {
    this.bar.stop();
  }
}
