import { asObject } from '../json/json-object.js';
import type { JsonObject } from '../json/json-object.js';

/**
 * Parses the usage that OpenAI, Anthropic and compatible providers report. OpenAI uses `prompt_tokens` (chat completions,
 * completions, embeddings) or `input_tokens` (responses). Anthropic uses `input_tokens` without cached tokens.
 * @param provider provider of the upstream
 */
export function parseTokenCounts(usage: ProviderUsage, provider?: string): TokenCounts {
  // If Anthropic compacts a conversation, the top-level figures omit the compaction, which is billed; `iterations` has it.
  const { iterations } = usage;
  const passes = Array.isArray(iterations)
    ? iterations.map(asObject).filter((pass) => pass !== undefined)
    : [];
  const tokens = parsePass(usage, provider);
  if (passes.length === 0) return tokens;
  const counts = passes.map((pass) => parsePass(pass, provider));
  return sumPasses(counts, tokens);
}

/** Token counts of a usage record; null if the provider did not report the count. */
export interface TokenCounts {
  /** Includes tokens that were read from and written to the provider's cache. */
  readonly input_tokens: number | null;
  /** Part of the input that was read from the provider's cache. */
  readonly cached_input_tokens: number | null;
  /** Part of the input that was written to the provider's cache. */
  readonly cache_write_tokens: number | null;
  readonly output_tokens: number | null;
  /** Part of the output. */
  readonly reasoning_tokens: number | null;
  readonly total_tokens: number | null;
}

export const NO_TOKENS: TokenCounts = {
  input_tokens: null,
  cached_input_tokens: null,
  cache_write_tokens: null,
  output_tokens: null,
  reasoning_tokens: null,
  total_tokens: null,
};

/** Usage object as a provider sends it. */
export type ProviderUsage = JsonObject;

function parsePass(usage: ProviderUsage, provider: string | undefined): TokenCounts {
  const separate = parseSeparateReasoning(usage, provider);
  const output = parseCount(usage.completion_tokens) ?? parseCount(usage.output_tokens);
  return withTotal(
    {
      input_tokens: parseCount(usage.prompt_tokens) ?? parseAnthropicInput(usage),
      cached_input_tokens: parseCachedInput(usage),
      cache_write_tokens: parseCacheWrite(usage),
      output_tokens: separate === null ? output : (output ?? 0) + separate,
      reasoning_tokens: separate ?? parseReasoning(usage),
    },
    parseCount(usage.total_tokens),
  );
}

type Counts = Omit<TokenCounts, 'total_tokens'>;

/** @param total used if input or output is unknown */
function withTotal(counts: Counts, total: number | null): TokenCounts {
  const { input_tokens: input, output_tokens: output } = counts;
  return { ...counts, total_tokens: input !== null && output !== null ? input + output : total };
}

/** @param fallback counts for figures that no pass reports */
function sumPasses(counts: readonly TokenCounts[], fallback: TokenCounts): TokenCounts {
  const sum = (name: keyof TokenCounts) => {
    const known = counts.flatMap((each) => each[name] ?? []);
    return known.length === 0 ? fallback[name] : parseCount(known.reduce((a, b) => a + b));
  };
  return withTotal(
    {
      input_tokens: sum('input_tokens'),
      cached_input_tokens: sum('cached_input_tokens'),
      cache_write_tokens: sum('cache_write_tokens'),
      output_tokens: sum('output_tokens'),
      reasoning_tokens: sum('reasoning_tokens'),
    },
    null,
  );
}

/** Adds the counts of the responses of one connection. A count is null if no response reports it. */
export function addTokenCounts(a: TokenCounts, b: TokenCounts): TokenCounts {
  return sumPasses([a, b], NO_TOKENS);
}

/**
 * Parses reasoning tokens of providers that bill them as output but count them separately. xAI reports the number. Gemini
 * includes them in the total only.
 * @returns null for other providers
 */
function parseSeparateReasoning(usage: ProviderUsage, provider: string | undefined): number | null {
  const [input, total] = [parseCount(usage.prompt_tokens), parseCount(usage.total_tokens)];
  if (input === null || total === null) return null;
  const separate = total - input - (parseCount(usage.completion_tokens) ?? 0);
  return separate > 0 && (separate === parseReasoning(usage) || provider === 'google') ? separate : null;
}

function parseReasoning(usage: ProviderUsage): number | null {
  const details = asObject(usage.completion_tokens_details) ?? asObject(usage.output_tokens_details);
  return parseCount(details?.reasoning_tokens);
}

function parseCacheWrite(usage: ProviderUsage): number | null {
  const details = asObject(usage.prompt_tokens_details) ?? asObject(usage.input_tokens_details);
  return parseCount(usage.cache_creation_input_tokens) ?? parseCount(details?.cache_write_tokens); // OpenRouter
}

/** Adds the tokens that Anthropic read from and wrote to its cache, which `input_tokens` does not include. */
function parseAnthropicInput(usage: ProviderUsage): number | null {
  const input = parseCount(usage.input_tokens);
  if (input === null) return null;
  return (
    input +
    (parseCount(usage.cache_creation_input_tokens) ?? 0) +
    (parseCount(usage.cache_read_input_tokens) ?? 0)
  );
}

function parseCachedInput(usage: ProviderUsage): number | null {
  const details =
    asObject(usage.prompt_tokens_details) ??
    asObject(usage.input_tokens_details) ??
    asObject(usage.input_token_details); // OpenAI Realtime API
  return (
    parseCount(details?.cached_tokens) ??
    parseCount(usage.cache_read_input_tokens) ??
    parseCount(usage.prompt_cache_hit_tokens) ?? // DeepSeek
    parseCount(usage.cached_tokens) // Moonshot
  );
}

/** Far above any real count. Larger counts are ignored, because they would overflow the sums of a month. */
const COUNT_LIMIT = 1_000_000_000;

function parseCount(value: unknown): number | null {
  const isCount = Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= COUNT_LIMIT;
  return isCount ? (value as number) : null;
}
