import { accessSync, constants, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { BlockList, isIP } from 'node:net';
import { dirname } from 'node:path';

/** The start cannot go on; the message has one line for every setting, beginning with its name. */
export class SettingsError extends Error {}

/** Environment variables with types. What is wrong is collected, so that all of it is told at once. */
export class Environment {
  private readonly problems: string[] = [];

  constructor(private readonly variables: NodeJS.ProcessEnv) {}

  /** Whether the variable is set to something; an empty one counts as not set. */
  has(name: string): boolean {
    return this.text(name) !== undefined;
  }

  text(name: string): string | undefined {
    const value = this.variables[name]?.trim();
    return value === '' ? undefined : value;
  }

  /** @param when completes "is required ..." */
  required(name: string, when: string): string | undefined {
    const text = this.text(name);
    if (text === undefined) this.wrong(name, `is required ${when}`);
    return text;
  }

  list(name: string): string[] {
    const parts = this.text(name)?.split(',') ?? [];
    return parts.map((part) => part.trim()).filter((part) => part !== '');
  }

  integer(name: string, fallback: number, min: number, max: number): number {
    const text = this.text(name);
    if (text === undefined) return fallback;
    const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
    if (value >= min && value <= max) return value;
    this.wrong(name, `must be an integer from ${min} to ${max}`);
    return fallback;
  }

  oneOf<T extends string>(name: string, values: readonly T[], fallback: T): T {
    const text = this.text(name);
    if (text === undefined) return fallback;
    const found = values.find((value) => value === text);
    if (found === undefined) this.wrong(name, `must be one of ${values.join(', ')}`);
    return found ?? fallback;
  }

  matching(name: string, pattern: RegExp, problem: string): string | undefined {
    const text = this.text(name);
    if (text !== undefined && !pattern.test(text)) this.wrong(name, problem);
    return text;
  }

  url(name: string, protocols: readonly string[]): URL | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url && protocols.includes(url.protocol)) return url;
    this.wrong(name, `must be a URL that begins with ${protocols.map((p) => `${p}//`).join(' or ')}`);
    return undefined;
  }

  /** An http(s) URL, which is shown to others: what it held of a user or password would be, too. */
  webUrl(name: string): URL | undefined {
    const url = this.url(name, ['http:', 'https:']);
    if (url && url.username + url.password !== '') this.wrong(name, 'must not hold a user or password');
    return url;
  }

  /** One of those to which paths are appended: no query or fragment, returned without a trailing slash. */
  baseUrl(name: string): string | undefined {
    const url = this.webUrl(name);
    if (!url) return undefined;
    if (url.search !== '' || url.hash !== '') this.wrong(name, 'must not have a query or fragment');
    return url.href.replace(/\/+$/, '');
  }

  origins(name: string): string[] {
    return this.listOf(name, isOrigin, 'not an origin such as https://app.example.com');
  }

  /** IP addresses and CIDR networks. */
  networks(name: string): string[] {
    return this.listOf(name, isNetwork, 'neither an address nor a network in CIDR form');
  }

  /** Makes a folder where there is none. Called when nothing else is wrong: what is refused leaves nothing behind. */
  makeFolder(name: string, path: string): void {
    try {
      makeFolder(path);
      readdirSync(path);
      accessSync(path, constants.W_OK);
    } catch (error) {
      this.wrong(name, `cannot be used: ${(error as Error).message}`);
    }
    this.throwIfWrong();
  }

  wrong(name: string, problem: string): void {
    this.problems.push(`${name} ${problem}`);
  }

  throwIfWrong(): void {
    if (this.problems.length > 0) throw new SettingsError(this.problems.join('\n'));
  }

  /** @param problem completes "has ..., which is ..." */
  private listOf(name: string, isRight: (part: string) => boolean, problem: string): string[] {
    const list = this.list(name);
    const wrong = list.filter((part) => !isRight(part));
    if (wrong.length > 0) this.wrong(name, `has ${wrong.join(', ')}, which is ${problem}`);
    return list;
  }
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text;
}

/** Level by level: for a recursive one Node 20 never comes back from below `/proc`. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error; // of two replicas, one is first
  }
}

function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  if (prefix === undefined) return true;
  if (!/^[1-9]\d{0,2}$/.test(prefix)) return false; // a network of everything would make anybody a proxy
  try {
    new BlockList().addSubnet(address, Number(prefix), family === 4 ? 'ipv4' : 'ipv6');
    return true;
  } catch {
    return false;
  }
}
