import type { Settings } from '../config/settings.js';

/** Exit codes, with the same meanings as those of diff and grep. */
export const DONE = 0;
export const FOUND_PROBLEMS = 1;
export const FAILED = 2;

/** Settings and options of a command. */
export interface CommandContext {
  readonly settings: Settings;
  /** URL of the PostgreSQL that the settings name, or of the embedded one. */
  readonly databaseUrl: string;
  /** Given flags, without the hyphens. */
  readonly flags: ReadonlySet<string>;
  /** Writes a line of the result to standard output. */
  readonly print: (line: string) => void;
}

/** Command for operators. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  /** Descriptions of the flags, by name without the hyphens. */
  readonly flags?: Readonly<Record<string, string>>;
  /** @returns the exit code @throws Error if the command fails */
  run(context: CommandContext): Promise<number>;
}
