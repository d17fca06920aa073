import type { UsageSource } from '../../usage/record/usage-record.js';
import { EMPTY_BUFFER } from '../wire/empty-buffer.js';
import { NO_TOKENS, parseTokenCounts } from './token-counts.js';
import type { ProviderUsage, TokenCounts } from './token-counts.js';

/** Reads the usage in a response while it is relayed. Never throws, whatever the response contains. */
export interface Meter {
  /** @returns the bytes for the client; a stream may hold back an incomplete line */
  transform(chunk: Buffer): Buffer;
  /** @returns the remaining bytes for the client, at the end of the response */
  flush(): Buffer;
  /**
   * @param isComplete whether the response came to its regular end
   * @param provider provider of the upstream
   */
  readUsage(isComplete: boolean, provider?: string): MeteredUsage;
  /** Whether the last event of the stream has arrived, though the transfer may continue. */
  readonly isComplete?: boolean;
  /** Whether the stream contained an error. */
  readonly hasError?: boolean;
  /** Time of the first content by `performance.now()`; undefined before. */
  firstContentAt(): number | undefined;
}

/** Usage that a response reported. */
export interface MeteredUsage {
  readonly tokens: TokenCounts;
  readonly source: UsageSource;
}

export const NO_USAGE: MeteredUsage = { tokens: NO_TOKENS, source: 'none' };
/** Usage of a stream that ended before it reported final figures. */
export const INCOMPLETE_USAGE: MeteredUsage = { tokens: NO_TOKENS, source: 'partial' };

/** @param isFinal whether the figures are those of the whole response */
export function toMeteredUsage(
  usage: ProviderUsage,
  provider: string | undefined,
  isFinal: boolean,
): MeteredUsage {
  const tokens = parseTokenCounts(usage, provider);
  const isEmpty = Object.values(tokens).every((count) => count === null); // some providers report seconds only
  return isEmpty ? NO_USAGE : { tokens, source: isFinal ? 'provider' : 'partial' };
}

/** Meter for responses without usage: errors, and responses that are neither JSON nor event streams. */
export class NoMeter implements Meter {
  private contentTime?: number;

  firstContentAt(): number | undefined {
    return this.contentTime;
  }

  transform(chunk: Buffer): Buffer {
    this.contentTime ??= performance.now();
    return chunk;
  }

  flush(): Buffer {
    return EMPTY_BUFFER;
  }

  readUsage(): MeteredUsage {
    return NO_USAGE;
  }
}
