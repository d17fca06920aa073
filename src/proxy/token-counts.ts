import { asObject } from './json-object.js';
import type { JsonObject } from './json-object.js';

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
export type ProviderUsage = JsonObject;

/**
 * Reads what OpenAI (chat completions, completions, embeddings: `prompt_tokens`; responses: `input_tokens`),
 * Anthropic (messages: `input_tokens` without what the cache took part in) and those who speak like them report.
 * @param provider of the upstream that reports
 */
export function tokenCounts(usage: ProviderUsage, provider?: string): TokenCounts {
  // Where Anthropic has condensed a conversation on the way, the figures beside these leave that out, which is billed.
  const { iterations } = usage;
  const passes = Array.isArray(iterations)
    ? iterations.map(asObject).filter((pass) => pass !== undefined)
    : [];
  const tokens = tokensOf(usage, provider);
  if (passes.length === 0) return tokens;
  const counts = passes.map((pass) => tokensOf(pass, provider));
  return sumOf(counts, tokens);
}

function tokensOf(usage: ProviderUsage, provider: string | undefined): TokenCounts {
  const input = count(usage.prompt_tokens) ?? withCache(usage);
  const output =
    withReasoning(usage, provider) ?? count(usage.completion_tokens) ?? count(usage.output_tokens);
  return counted(input, cached(usage), output, count(usage.total_tokens));
}

/** @param total where it cannot be told by the others */
function counted(
  input: number | null,
  cachedInput: number | null,
  output: number | null,
  total: number | null,
): TokenCounts {
  return {
    input_tokens: input,
    cached_input_tokens: cachedInput,
    output_tokens: output,
    total_tokens: input !== null && output !== null ? input + output : total,
  };
}

/** @param otherwise what is counted where none of them says */
function sumOf(counts: readonly TokenCounts[], otherwise: TokenCounts): TokenCounts {
  const sum = (name: keyof TokenCounts) => {
    const known = counts.flatMap((each) => each[name] ?? []);
    return known.length === 0 ? otherwise[name] : count(known.reduce((a, b) => a + b));
  };
  return counted(sum('input_tokens'), sum('cached_input_tokens'), sum('output_tokens'), null);
}

/**
 * The output where reasoning is billed as such, but counted beside it: xAI tells how much there was, Gemini only by
 * the total. Null where that is not so.
 */
function withReasoning(usage: ProviderUsage, provider: string | undefined): number | null {
  const [input, total] = [count(usage.prompt_tokens), count(usage.total_tokens)];
  const output = count(usage.completion_tokens) ?? 0;
  if (input === null || total === null) return null;
  const beside = total - input - output;
  const { reasoning_tokens: reasoning } = asObject(usage.completion_tokens_details) ?? {};
  return beside > 0 && (beside === reasoning || provider === 'google') ? output + beside : null;
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
    count(usage.prompt_cache_hit_tokens) ?? // DeepSeek
    count(usage.cached_tokens) // Moonshot
  );
}

/** No model takes nearly as many. What an upstream claims beyond would overflow the sums, for which a month has to fit. */
const COUNT_LIMIT = 1_000_000_000;

function count(value: unknown): number | null {
  const isCount = Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= COUNT_LIMIT;
  return isCount ? (value as number) : null;
}
