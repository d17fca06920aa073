import type { WriteStream } from 'node:tty';

/** Whether a stream is a terminal. */
export function isTerminal(stream: { isTTY?: boolean }): boolean {
  return stream.isTTY === true;
}

/** Makes text bold on a terminal, unless the user wants no colours. */
export function bold(text: string, stream: WriteStream): string {
  const { NO_COLOR, TERM } = process.env;
  const isPlain = !isTerminal(stream) || (NO_COLOR ?? '') !== '' || TERM === 'dumb';
  return isPlain ? text : `\u001b[1m${text}\u001b[22m`;
}

/** Writes a result. Prompts and errors go to standard error. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Writes a value as one line of JSON. */
export function printJson(value: unknown): void {
  print(JSON.stringify(value));
}
