import { codePoints } from './text.js';

/** Maximum length of a pattern, and of the name that a rule sends to an upstream; in characters. */
export const PATTERN_MAX = 256;
/**
 * Longer names match no pattern with text between two stars. Real names have fewer than 200 characters; the limit bounds
 * the time of a search.
 */
export const MATCHED_NAME_MAX = 1_024;
const CONTROL_CHARACTER = /\p{Cc}/u;

/**
 * Pattern of model names: exact and case-sensitive, where `*` matches any run of characters, including none. The parts
 * between the stars are found from left to right without backtracking.
 */
export class ModelPattern {
  /** Number of stars. */
  readonly stars: number;
  private readonly first: string;
  private readonly inner: readonly string[];
  private readonly last: string;
  private readonly minLength: number;

  constructor(readonly text: string) {
    const parts = text.split('*');
    this.stars = parts.length - 1;
    this.first = parts[0]!;
    this.last = parts.length > 1 ? parts.at(-1)! : '';
    this.inner = parts.slice(1, -1).filter((part) => part !== '');
    this.minLength = text.length - this.stars;
  }

  matches(name: string): boolean {
    if (this.stars === 0) return name === this.text;
    if (name.length < this.minLength) return false;
    if (!name.startsWith(this.first) || !name.endsWith(this.last)) return false;
    return this.inner.length === 0 || this.findsInner(name);
  }

  /** @returns the characters that the only star stands for; undefined if the name does not match or there are more stars */
  capture(name: string): string | undefined {
    if (this.stars !== 1 || !this.matches(name)) return undefined;
    return name.slice(this.first.length, name.length - this.last.length);
  }

  /** Replaces the only star. */
  fill(captured: string): string {
    return this.first + captured + this.last;
  }

  private findsInner(name: string): boolean {
    if (name.length > MATCHED_NAME_MAX) return false;
    const end = name.length - this.last.length;
    let at = this.first.length;
    for (const part of this.inner) {
      const found = name.indexOf(part, at);
      if (found < 0 || found + part.length > end) return false;
      at = found + part.length;
    }
    return true;
  }
}

/** Whether a value is a pattern, or a name that a rule sends: 1 to 256 characters without control characters. */
export function isPatternText(value: unknown): value is string {
  if (typeof value !== 'string' || value === '' || !value.isWellFormed()) return false;
  return codePoints(value) <= PATTERN_MAX && !CONTROL_CHARACTER.test(value);
}

/** List of patterns in their order, with the exact ones in a map. */
export class PatternList {
  private readonly exact = new Map<string, number>();
  private readonly wild: { readonly index: number; readonly pattern: ModelPattern }[] = [];

  constructor(patterns: readonly ModelPattern[]) {
    patterns.forEach((pattern, index) => {
      if (pattern.stars > 0) this.wild.push({ index, pattern });
      else if (!this.exact.has(pattern.text)) this.exact.set(pattern.text, index);
    });
  }

  /** @returns the index of the first pattern that matches; -1 if none does */
  find(name: string): number {
    const exact = this.exact.get(name) ?? Infinity;
    for (const { index, pattern } of this.wild) {
      if (index > exact) break;
      if (pattern.matches(name)) return index;
    }
    return exact === Infinity ? -1 : exact;
  }
}
