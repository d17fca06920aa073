import { isIP } from 'node:net';
import { buildConnector } from 'undici';
import type { AddressGuard } from './address-guard.js';

/** The `connect` of an undici client or agent that dials nothing but what the guard has checked. */
export function guardedConnector(
  guard: AddressGuard,
  options: buildConnector.BuildOptions = {},
): buildConnector.connector {
  const connect = buildConnector({ ...options, lookup: guard.lookup });
  return (target, callback) => {
    const host = target.hostname.replace(/^\[|\]$/g, '');
    try {
      if (isIP(host) !== 0) guard.assertAllowed(host); // dialled as it is, without a lookup
    } catch (error) {
      process.nextTick(callback, error, null); // as connections tell theirs
      return;
    }
    connect(target, callback);
  };
}
