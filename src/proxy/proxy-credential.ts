import type { IncomingHttpHeaders } from 'node:http';
import { bearerToken } from '../common/bearer-token.js';

/**
 * The proxy key that a request presents, in the header of OpenAI's clients, of Anthropic's or of Azure's.
 * @returns undefined when there is none, or the credential is of another kind
 */
export function presentedKey(headers: IncomingHttpHeaders): string | undefined {
  return bearerToken(headers.authorization) ?? single(headers['x-api-key']) ?? single(headers['api-key']);
}

function single(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' && header !== '' ? header : undefined;
}
