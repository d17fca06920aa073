import type { IncomingHttpHeaders } from 'node:http';
import { bearerToken } from '../../common/api/bearer-token.js';

/** Prefix of the key among the subprotocols: browsers cannot set other headers of a WebSocket (OpenAI Realtime API). */
const KEY_PROTOCOL = 'openai-insecure-api-key.';

/**
 * Finds the proxy key of a request in the header that clients of OpenAI, Anthropic or Azure use.
 * @returns undefined if there is no key or the credential has another scheme
 */
export function findProxyKey(headers: IncomingHttpHeaders): string | undefined {
  return (
    bearerToken(headers.authorization) ??
    singleValue(headers['x-api-key']) ??
    singleValue(headers['api-key']) ??
    (headers['sec-websocket-key'] === undefined
      ? undefined
      : findProtocolKey(headers['sec-websocket-protocol']))
  );
}

/** Splits a `Sec-WebSocket-Protocol` header. */
export function parseProtocols(header: string): string[] {
  return header.split(',').map((protocol) => protocol.trim());
}

/** Subprotocols of a handshake for the upstream, which must not get the proxy key. */
export function protocolsForUpstream(header: string | undefined): string[] {
  if (header === undefined) return [];
  return parseProtocols(header).filter((protocol) => !protocol.startsWith(KEY_PROTOCOL));
}

function findProtocolKey(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const protocol = parseProtocols(header).find((name) => name.startsWith(KEY_PROTOCOL));
  return protocol?.slice(KEY_PROTOCOL.length);
}

function singleValue(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' && header !== '' ? header : undefined;
}
