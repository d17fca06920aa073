import { UsageError } from '../errors.js';

/** Formats of `mintkeep env`. */
export const SHELLS = ['bash', 'zsh', 'fish', 'powershell', 'json', 'dotenv'] as const;
export type Shell = (typeof SHELLS)[number];

type Variables = Readonly<Record<string, string>>;
type Assignment = (name: string, value: string) => string;

const HARMLESS = /^[\w./:@%+,=-]+$/;

/** Quotes a word for POSIX shells. Nothing has a meaning between single quotes. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Quotes a word for POSIX shells only if it needs quotes. */
export function quoteIfNeeded(text: string): string {
  return HARMLESS.test(text) ? text : quote(text);
}

/** Between single quotes, fish reads only `\\` and `\'` as escapes. */
export function quoteForFish(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}

/** PowerShell treats typographic quotes like straight ones; a doubled quote stands for itself. */
function quoteForPowerShell(text: string): string {
  return `'${text.replace(/['\u2018\u2019\u201a\u201b]/g, '$&$&')}'`;
}

/** Readers of .env files agree only on text without quotes, or in quotes that the text does not contain. */
function quoteForDotenv(name: string, text: string): string {
  if (HARMLESS.test(text)) return text;
  if (!/['\n\r]/.test(text)) return `'${text}'`;
  if (!/["\\$`\n\r]/.test(text)) return `"${text}"`;
  throw new UsageError(`${name} cannot be written to a .env file`, 'use --shell json');
}

const posix: Assignment = (name, value) => `export ${name}=${quote(value)}`;
const ASSIGNMENTS: Record<Exclude<Shell, 'json'>, Assignment> = {
  bash: posix,
  zsh: posix,
  fish: (name, value) => `set -gx ${name} ${quoteForFish(value)}`,
  powershell: (name, value) => `$env:${name} = ${quoteForPowerShell(value)}`,
  dotenv: (name, value) => `${name}=${quoteForDotenv(name, value)}`,
};

/** Formats variables for a shell. @throws UsageError if a value cannot be expressed */
export function formatVariables(variables: Variables, shell: Shell): string {
  if (shell === 'json') return JSON.stringify(variables);
  return Object.entries(variables)
    .map(([name, value]) => ASSIGNMENTS[shell](name, value))
    .join('\n');
}

/** The shell of the user, as `SHELL` names it. */
export function userShell(): Shell {
  const name = process.env.SHELL?.split('/').at(-1);
  if (name === 'pwsh') return 'powershell';
  return name === 'zsh' || name === 'fish' ? name : 'bash';
}
