import type {
  IntegerSetting,
  TextSetting,
  ChoiceSetting,
  ListSetting,
  UrlSetting,
} from './declarations/declaration.js';
import { DECLARATIONS } from './declarations/declarations.js';
import { isNetwork, isOrigin } from './addresses.js';

/** Prevents the start. The message has one line for each setting, which begins with the setting's name. */
export class SettingsError extends Error {}

type Declarations = typeof DECLARATIONS;
type SettingName = keyof Declarations;
type NameOf<Kind> = {
  [Name in SettingName]: Declarations[Name] extends Kind ? Name : never;
}[SettingName];

/** A setting with a default always has a value. */
type ValueOf<Name extends SettingName, T> = Declarations[Name] extends { default: unknown }
  ? T
  : T | undefined;
type ChoiceOf<Name extends SettingName> = Declarations[Name] extends { choices: readonly (infer T)[] }
  ? T
  : never;

/** Environment variables, read as their declarations say. Collects all problems, to report them together. */
export class Environment {
  private readonly problems = new Map<SettingName, string>();

  constructor(private readonly variables: NodeJS.ProcessEnv) {}

  /** Whether the variable has a value; an empty one counts as unset. */
  has(name: SettingName): boolean {
    return this.valueOf(name) !== undefined;
  }

  text<Name extends NameOf<TextSetting>>(name: Name): ValueOf<Name, string> {
    const { pattern, problem, default: fallback }: TextSetting = DECLARATIONS[name];
    const value = this.valueOf(name);
    if (value !== undefined && pattern?.test(value) === false)
      this.wrong(name, problem ?? `must match ${pattern}`);
    return (value ?? fallback) as ValueOf<Name, string>;
  }

  /** @param when completes "is required ..." */
  required(name: NameOf<TextSetting>, when: string): string | undefined {
    const text = this.text(name);
    if (text === undefined) this.wrong(name, `is required ${when}`);
    return text;
  }

  integer<Name extends NameOf<IntegerSetting>>(name: Name): ValueOf<Name, number> {
    const { min, max, default: fallback }: IntegerSetting = DECLARATIONS[name];
    const text = this.valueOf(name);
    if (text !== undefined) {
      const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
      if (value >= min && value <= max) return value;
      this.wrong(name, `must be an integer from ${min} to ${max}`);
    }
    return (typeof fallback === 'function' ? fallback() : fallback) as ValueOf<Name, number>;
  }

  choice<Name extends NameOf<ChoiceSetting>>(name: Name): ValueOf<Name, ChoiceOf<Name>> {
    const { choices, default: fallback }: ChoiceSetting = DECLARATIONS[name];
    const text = this.valueOf(name);
    const isKnown = text === undefined || choices.includes(text);
    if (!isKnown) this.wrong(name, `must be one of ${choices.join(', ')}`);
    return ((isKnown ? text : undefined) ?? fallback) as ValueOf<Name, ChoiceOf<Name>>;
  }

  url(name: NameOf<UrlSetting>): URL | undefined {
    const { protocols }: UrlSetting = DECLARATIONS[name];
    const text = this.valueOf(name);
    if (text === undefined) return undefined;
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url && protocols.includes(url.protocol)) return url;
    this.wrong(name, `must be a URL that begins with ${protocols.map((p) => `${p}//`).join(' or ')}`);
    return undefined;
  }

  /** URL that is shown to others: a user or password in it would be shown as well. */
  webUrl(name: NameOf<UrlSetting>): URL | undefined {
    const url = this.url(name);
    if (url && url.username + url.password !== '') this.wrong(name, 'must not contain a user or password');
    return url;
  }

  /** URL to which paths are appended: without query, fragment and trailing slash. */
  baseUrl(name: NameOf<UrlSetting>): string | undefined {
    const url = this.webUrl(name);
    if (!url) return undefined;
    if (url.search !== '' || url.hash !== '') this.wrong(name, 'must not have a query or fragment');
    return url.href.replace(/\/+$/, '');
  }

  list(name: NameOf<ListSetting>): string[] {
    const parts = this.valueOf(name)?.split(',') ?? [];
    return parts.map((part) => part.trim()).filter((part) => part !== '');
  }

  origins(name: NameOf<ListSetting>): string[] {
    return this.listOf(name, isOrigin, 'not an origin such as https://app.example.com');
  }

  /** IP addresses and CIDR networks. */
  networks(name: NameOf<ListSetting>): string[] {
    return this.listOf(name, isNetwork, 'neither an address nor a network in CIDR form');
  }

  /** The value as set, before any check. */
  valueOf(name: SettingName): string | undefined {
    const value = this.variables[name]?.trim();
    return value === '' ? undefined : value;
  }

  /** Records a problem. A setting has one line, whatever else is wrong with it. */
  wrong(name: SettingName, problem: string): void {
    if (!this.problems.has(name)) this.problems.set(name, problem);
  }

  throwIfWrong(): void {
    if (this.problems.size === 0) return;
    const lines = [...this.problems].map(([name, problem]) => `${name} ${problem}`);
    throw new SettingsError(lines.join('\n'));
  }

  /** @param problem completes "has ..., which is ..." */
  private listOf(name: NameOf<ListSetting>, isRight: (part: string) => boolean, problem: string): string[] {
    const list = this.list(name);
    const wrong = list.filter((part) => !isRight(part));
    if (wrong.length > 0) this.wrong(name, `has ${wrong.join(', ')}, which is ${problem}`);
    return list;
  }
}
