import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

interface ComposeService {
  readonly image?: string;
  readonly build?: string;
  readonly environment?: Record<string, string | number>;
  readonly networks?: string[] | Record<string, { ipv4_address?: string }>;
  readonly depends_on?: Record<string, { condition: string }>;
  readonly ports?: string[];
  readonly stop_grace_period?: string;
  readonly [member: string]: unknown;
}

export interface ComposeFile {
  readonly services: Record<string, ComposeService>;
  readonly configs: Record<string, { content: string }>;
  readonly networks: Record<string, object>;
  readonly volumes: Record<string, object>;
}

/** The compose file as it is written, merged but with its variables not filled in. */
export function composeFile(): ComposeFile {
  return parse(readFileSync('docker-compose.yml', 'utf8'), { merge: true }) as ComposeFile;
}

/** A file that the compose file holds, as its container gets it. */
export function configOf(file: ComposeFile, name: string, variables: Record<string, string> = {}): string {
  return interpolate(file.configs[name]!.content, variables).replaceAll('$$', '$');
}

/** Replaces the variables of a text by the rules of Compose. @throws Error for one that has to be set and is not */
export function interpolate(text: string, variables: Record<string, string>): string {
  return text.replace(/\$\{(\w+)(?::([-?])(.*?))?\}/g, (_, name: string, kind?: string, fallback = '') => {
    const value = variables[name];
    if (value) return value;
    if (kind !== '-') throw new Error(`${name} has to be set`);
    return fallback as string;
  });
}
