/** Domains that identify a provider, including their subdomains such as `eu.api.openai.com`. */
const DOMAINS = {
  openai: ['openai.com'],
  anthropic: ['anthropic.com'],
  openrouter: ['openrouter.ai'],
  google: ['googleapis.com'],
  mistral: ['mistral.ai'],
  groq: ['groq.com'],
  azure: ['openai.azure.com', 'services.ai.azure.com'],
  cerebras: ['cerebras.ai'],
  cohere: ['cohere.com', 'cohere.ai'],
  deepseek: ['deepseek.com'],
  fireworks: ['fireworks.ai'],
  perplexity: ['perplexity.ai'],
  together: ['together.ai', 'together.xyz'],
  xai: ['x.ai'],
} as const;

type NamedProvider = keyof typeof DOMAINS;

/** Provider of an upstream; `custom` for every other host. */
export type Provider = NamedProvider | 'custom';

const NAMED = Object.entries(DOMAINS) as [NamedProvider, readonly string[]][];

export const PROVIDERS: readonly Provider[] = [...NAMED.map(([provider]) => provider), 'custom'];

/** Finds the provider that the host of a base URL belongs to. */
export function providerOf(baseUrl: string): Provider {
  const host = new URL(baseUrl).hostname.replace(/\.$/, '');
  const belongs = (domain: string) => host === domain || host.endsWith(`.${domain}`);
  return NAMED.find(([, domains]) => domains.some(belongs))?.[0] ?? 'custom';
}

/** Version of the Anthropic API, sent in the required header `anthropic-version`. */
export const ANTHROPIC_VERSION = '2023-06-01';

/** Creates the header that carries the API key. */
export function credentialHeader(provider: Provider, apiKey: string): Record<string, string> {
  return provider === 'anthropic' ? { 'x-api-key': apiKey } : { authorization: `Bearer ${apiKey}` };
}
