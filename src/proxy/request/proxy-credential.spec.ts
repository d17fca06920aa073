import { findProxyKey } from './proxy-credential.js';

const protocol = { 'sec-websocket-protocol': 'realtime, openai-insecure-api-key.mk_1' };

it('reads the key among the subprotocols of a WebSocket handshake only', () => {
  expect(findProxyKey({ ...protocol, 'sec-websocket-key': 'x' })).toBe('mk_1');
  expect(findProxyKey(protocol)).toBeUndefined();
});
