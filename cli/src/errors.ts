import { printable } from './terminal/printable.js';

/** Exit codes that scripts may rely on. */
export const EXIT = { failed: 1, usage: 2, notLoggedIn: 4, interrupted: 130 } as const;

/** Error for the user: says what happened and what to do. */
export class CliError extends Error {
  override readonly name = 'CliError';

  /** @param advice imperative, without a period */
  constructor(
    message: string,
    readonly advice: string,
    readonly exitCode: number = EXIT.failed,
  ) {
    super(message);
  }
}

/** {@link CliError} for wrong arguments or settings. */
export class UsageError extends CliError {
  constructor(message: string, advice = 'see "mintkeep --help"') {
    super(message, advice, EXIT.usage);
  }
}

const KEYS = /mk_[0-9A-Za-z]{8,}/g;

/** Formats `mintkeep: <what happened>; <what to do>`, on one line and without keys. */
export function errorLine(message: string, advice: string): string {
  return printable(`mintkeep: ${message}; ${advice}`).replace(KEYS, maskKey) + '\n';
}

/** Writes a warning in the form of an error. */
export function warn(message: string, advice: string): void {
  process.stderr.write(errorLine(message, advice));
}

/** Shows the beginning and the end of a key. Keys of other lengths may be short, so nothing of them is shown. */
export function maskKey(key: string): string {
  return /^mk_[0-9A-Za-z]{42}$/.test(key) ? `${key.slice(0, 7)}…${key.slice(-4)}` : '…';
}

/** Code of a system or network error; undefined for other values. */
export function errorCode(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
}
