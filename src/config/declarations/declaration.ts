/** Text of a setting in the documentation, in Markdown. */
interface Documentation {
  readonly description: string;
  /** Default as documented. Needed if the default depends on other settings; otherwise derived from the default. */
  readonly defaultText?: string;
}

/** Whole number within bounds. */
export interface IntegerSetting extends Documentation {
  readonly kind: 'integer';
  readonly min: number;
  readonly max: number;
  readonly unit?: string;
  /** Value if the variable is unset; a function if the value depends on the machine. */
  readonly default?: number | (() => number);
}

/** Word from a fixed list. */
export interface ChoiceSetting extends Documentation {
  readonly kind: 'choice';
  readonly choices: readonly string[];
  readonly default?: string;
}

/** Free text, which may have to match a pattern. */
export interface TextSetting extends Documentation {
  readonly kind: 'text';
  /** Accepted values as documented. */
  readonly values: string;
  readonly pattern?: RegExp;
  /** Completes the sentence "NAME ...", if the value does not match the pattern. */
  readonly problem?: string;
  readonly default?: string;
}

/** URL with one of several protocols. */
export interface UrlSetting extends Documentation {
  readonly kind: 'url';
  /** Such as `https:`. */
  readonly protocols: readonly string[];
}

/** Comma-separated values. */
export interface ListSetting extends Documentation {
  readonly kind: 'list';
  /** Accepted values as documented. */
  readonly values: string;
}

/** An environment variable: its type, bounds, default and documentation. */
export type Declaration = IntegerSetting | ChoiceSetting | TextSetting | UrlSetting | ListSetting;

/** Protocols of addresses that browsers and HTTP clients open. */
export const WEB_PROTOCOLS = ['http:', 'https:'] as const;

/** Adds the kind to a declaration and keeps the literal types of its members. */
const kindOf =
  <K extends Declaration['kind']>(kind: K) =>
  <const D extends Omit<Extract<Declaration, { kind: K }>, 'kind'>>(
    declaration: D,
  ): D & { readonly kind: K } => ({
    ...declaration,
    kind,
  });

export const integer = kindOf('integer');
export const choice = kindOf('choice');
export const text = kindOf('text');
export const url = kindOf('url');
export const list = kindOf('list');
