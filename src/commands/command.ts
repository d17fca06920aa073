import type { Settings } from '../config/settings.js';

/** What the operator's commands end with, as diff and grep do. */
export const DONE = 0;
export const FOUND_SOMETHING = 1;
export const COULD_NOT = 2;

/** What a command works with. */
export interface CommandContext {
  readonly settings: Settings;
  /** Of the PostgreSQL that the settings name, or of the embedded one. */
  readonly databaseUrl: string;
  /** Those of {@link Command.flags} that were given. */
  readonly flags: ReadonlySet<string>;
  /** Writes a line of the result to standard output. */
  readonly print: (line: string) => void;
}

/** One of the operator's commands. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  /** Names without the hyphens, and what they do. */
  readonly flags?: Readonly<Record<string, string>>;
  /** @returns the exit code @throws Error when it could not be done */
  run(context: CommandContext): Promise<number>;
}
