import type { HttpRequest } from '../../http/http-exchange.js';
import { storableText } from '../../common/text/text.js';
import { NO_FIELDS } from '../request/request-fields.js';
import type { RequestFields } from '../request/request-fields.js';
import { findQueryModel } from '../request/requested-model.js';
import { parseProtocols } from '../request/proxy-credential.js';

const KEY = /^[+/0-9A-Za-z]{22}==$/;
const VERSION = '13';
const PROTOCOL = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const MAX_MODEL_LENGTH = 200;

/** Whether a request wants a WebSocket. Load balancers may have removed its `Upgrade` header. */
export function wantsWebSocket({ headers }: HttpRequest): boolean {
  return headers['sec-websocket-key'] !== undefined;
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
  const model = storableText(name, MAX_MODEL_LENGTH);
  return { ...NO_FIELDS, stream: true, model, requestedModel: { name, place: 'query' } };
}

function hasValidProtocols(header: string | undefined): boolean {
  if (header === undefined) return true;
  const protocols = parseProtocols(header);
  return (
    protocols.every((protocol) => PROTOCOL.test(protocol)) && new Set(protocols).size === protocols.length
  );
}
