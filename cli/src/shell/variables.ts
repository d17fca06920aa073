import type { Access } from '../network/service.js';

/** Variables by which SDKs and tools find the server and the key. */
export function variablesOf({ server, key }: Access): Record<string, string> {
  return {
    OPENAI_BASE_URL: `${server}/v1`,
    OPENAI_API_KEY: key,
    ANTHROPIC_BASE_URL: server,
    ANTHROPIC_AUTH_TOKEN: key,
    MINTKEEP_URL: server,
  };
}
