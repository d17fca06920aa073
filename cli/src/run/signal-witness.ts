import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

/** Signals that are passed on to a command. Others, such as those of job control, reach it by the terminal. */
export const PASSED_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;
export type PassedSignal = (typeof PASSED_SIGNALS)[number];

/**
 * Reports each signal by name, and replies `pong` to every line after it has reported what it received before. A trap may
 * end `read` early, which the variable distinguishes from the end of the input.
 */
const SCRIPT = `
${PASSED_SIGNALS.map((name) => `trap 'got=1; echo ${name}' ${name.slice(3)}`).join('\n')}
echo ready
while :; do
  if read -r line; then echo pong
  elif [ -n "$got" ]; then got=
  else exit 0
  fi
done`;

/**
 * A process beside the command that receives the same signals as a whole process group. A terminal sends Ctrl-C to the
 * group, and the command has it then. `kill` sends a signal to one process, and the command does not have it. A process
 * cannot tell these apart from its own signal alone, but it can ask the witness.
 */
export class SignalWitness {
  private readonly seen = new Map<string, number>();
  private readonly replies: (() => void)[] = [];
  private isGone = false;

  private constructor(private readonly process: ChildProcessByStdio<Writable, Readable, null>) {
    this.process.on('exit', () => this.onGone()).on('error', () => this.onGone());
    this.process.stdin.on('error', () => this.onGone());
    createInterface(this.process.stdout).on('line', (line) => this.onLine(line));
  }

  /** Starts a witness and waits until it reports signals. */
  static async start(): Promise<SignalWitness> {
    const witness = new SignalWitness(
      spawn('/bin/sh', ['-c', SCRIPT], { stdio: ['pipe', 'pipe', 'ignore'] }),
    );
    await witness.nextReply();
    return witness;
  }

  /** Whether the signal that this process has just received was sent to the whole group. */
  async hasReceived(signal: PassedSignal): Promise<boolean> {
    if (!this.isGone) {
      const reply = this.nextReply();
      this.process.stdin.write('\n');
      await reply;
    }
    const count = this.seen.get(signal) ?? 0;
    if (count > 0) this.seen.set(signal, count - 1);
    return count > 0;
  }

  end(): void {
    this.process.stdin.end();
    this.process.unref();
  }

  private nextReply(): Promise<void> {
    return this.isGone ? Promise.resolve() : new Promise((resolve) => this.replies.push(resolve));
  }

  private onLine(line: string): void {
    if (line === 'pong' || line === 'ready') this.replies.shift()?.();
    else this.seen.set(line, (this.seen.get(line) ?? 0) + 1);
  }

  private onGone(): void {
    this.isGone = true;
    for (const reply of this.replies.splice(0)) reply();
  }
}
