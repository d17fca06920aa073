import type { IncomingHttpHeaders } from 'node:http';
import { bearerToken } from '../../common/api/bearer-token.js';

/**
 * Finds the proxy key of a request in the header that clients of OpenAI, Anthropic or Azure use.
 * @returns undefined if there is no key or the credential has another scheme
 */
export function findProxyKey(headers: IncomingHttpHeaders): string | undefined {
  return (
    bearerToken(headers.authorization) ?? singleValue(headers['x-api-key']) ?? singleValue(headers['api-key'])
  );
}

function singleValue(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' && header !== '' ? header : undefined;
}
