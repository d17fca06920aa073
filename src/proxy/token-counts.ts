/** Tokens as they are recorded; null where the provider did not say. */
export interface TokenCounts {
  /** With those read from and written to the provider's cache. */
  readonly input_tokens: number | null;
  /** Those of them that were read from the provider's cache. */
  readonly cached_input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly total_tokens: number | null;
}

export const NO_TOKENS: TokenCounts = {
  ...{ input_tokens: null, cached_input_tokens: null, output_tokens: null, total_tokens: null },
};

/** A usage object as a provider sends it. */
export type ProviderUsage = Readonly<Record<string, unknown>>;

/**
 * Reads what OpenAI (chat completions, completions, embeddings: `prompt_tokens`; responses: `input_tokens`),
 * Anthropic (messages: `input_tokens` without what the cache took part in) and those who speak like them report.
 */
export function tokenCounts(usage: ProviderUsage): TokenCounts {
  const input = count(usage.prompt_tokens) ?? withCache(usage);
  const output = count(usage.completion_tokens) ?? count(usage.output_tokens);
  return {
    input_tokens: input,
    cached_input_tokens: cached(usage),
    output_tokens: output,
    total_tokens: input !== null && output !== null ? input + output : count(usage.total_tokens),
  };
}

/** Anthropic counts what was read from and written to its cache beside the input. */
function withCache(usage: ProviderUsage): number | null {
  const input = count(usage.input_tokens);
  if (input === null) return null;
  return (
    input + (count(usage.cache_creation_input_tokens) ?? 0) + (count(usage.cache_read_input_tokens) ?? 0)
  );
}

function cached(usage: ProviderUsage): number | null {
  const details = asObject(usage.prompt_tokens_details) ?? asObject(usage.input_tokens_details);
  return (
    count(details?.cached_tokens) ??
    count(usage.cache_read_input_tokens) ??
    count(usage.prompt_cache_hit_tokens) // DeepSeek
  );
}

/** No model takes nearly as many. What an upstream claims beyond would overflow the sums, for which a month has to fit. */
const COUNT_LIMIT = 1_000_000_000;

function count(value: unknown): number | null {
  const isCount = Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= COUNT_LIMIT;
  return isCount ? (value as number) : null;
}

export function asObject(value: unknown): ProviderUsage | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as ProviderUsage) : undefined;
}
