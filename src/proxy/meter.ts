import type { UsageSource } from '../usage/usage-record.js';
import { EMPTY } from './empty.js';
import { NO_TOKENS, tokenCounts } from './token-counts.js';
import type { ProviderUsage, TokenCounts } from './token-counts.js';

/** What an answer said of its usage. */
export interface Reading {
  readonly tokens: TokenCounts;
  readonly source: UsageSource;
}

export const NOTHING_READ: Reading = { tokens: NO_TOKENS, source: 'none' };
/** Of a stream that ended before it came to its figures. */
export const CUT_SHORT: Reading = { tokens: NO_TOKENS, source: 'partial' };

/** @param isWhole whether they are the final figures */
export function readingOf(usage: ProviderUsage, provider: string | undefined, isWhole: boolean): Reading {
  const tokens = tokenCounts(usage, provider);
  const saysNothing = Object.values(tokens).every((count) => count === null); // some report seconds
  return saysNothing ? NOTHING_READ : { tokens, source: isWhole ? 'provider' : 'partial' };
}

/** Reads the usage out of an answer while it passes. Never throws, whatever passes. */
export interface Meter {
  /** @returns what the client gets of these bytes */
  pass(chunk: Buffer): Buffer;
  /** The rest of what the client gets, at the end of the answer. */
  rest(): Buffer;
  /**
   * @param complete whether the answer came to its end
   * @param provider of the upstream that gave it
   */
  read(complete: boolean, provider?: string): Reading;
  /** Whether what has come says that nothing follows, though the transfer may go on. */
  readonly isComplete?: boolean;
  /** Whether an error came within the answer. */
  readonly hasFailed?: boolean;
  /** When the first content came, as `performance.now()` has it; undefined before. */
  readonly contentAt?: number;
}

/** For answers that report no usage: refusals, and what is neither JSON nor an event stream. */
export class NoMeter implements Meter {
  contentAt?: number;

  pass(chunk: Buffer): Buffer {
    this.contentAt ??= performance.now();
    return chunk;
  }

  rest(): Buffer {
    return EMPTY;
  }

  read(): Reading {
    return NOTHING_READ;
  }
}
