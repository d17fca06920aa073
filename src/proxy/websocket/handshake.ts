import type { HttpRequest } from '../../http/http-exchange.js';
import { NO_FIELDS, recordedModel } from '../request/model/request-fields.js';
import type { RequestFields } from '../request/model/request-fields.js';
import { findQueryModel } from '../request/model/requested-model.js';
import { parseProtocols } from '../request/proxy-credential.js';

const KEY = /^[+/0-9A-Za-z]{22}==$/;
const VERSION = '13';
const PROTOCOL = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Element of an `Upgrade` header (RFC 9110, section 7.8). */
const WEBSOCKET = /(?:^|,)\s*websocket\s*(?:,|$)/i;

/** Whether a request wants a WebSocket. Load balancers may have removed some of its headers. */
export function wantsWebSocket({ headers }: HttpRequest): boolean {
  return headers['sec-websocket-key'] !== undefined || WEBSOCKET.test(headers.upgrade ?? '');
}

/** Whether a request is a complete WebSocket handshake (RFC 6455, section 4.1). */
export function isHandshake({ method, headers }: HttpRequest): boolean {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  return (
    method === 'GET' &&
    !hasBody &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    headers['sec-websocket-version'] === VERSION &&
    KEY.test(String(headers['sec-websocket-key'])) &&
    hasValidProtocols(headers['sec-websocket-protocol'])
  );
}

/** Reads the model of OpenAI's Realtime API in the query. In other APIs, each message names its model. */
export function handshakeFields(target: string): RequestFields {
  const { name, isUnclear } = findQueryModel(target);
  if (name === undefined) return { ...NO_FIELDS, stream: true, isModelUnclear: isUnclear };
  const requestedModel = { name, place: 'query' } as const;
  return { ...NO_FIELDS, stream: true, model: recordedModel(requestedModel), requestedModel };
}

function hasValidProtocols(header: string | undefined): boolean {
  if (header === undefined) return true;
  const protocols = parseProtocols(header);
  return (
    protocols.every((protocol) => PROTOCOL.test(protocol)) && new Set(protocols).size === protocols.length
  );
}
