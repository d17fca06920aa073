import { isIP } from 'node:net';
import { buildConnector } from 'undici';
import { AddressRejected } from './address-guard.js';
import type { AddressGuard, LookupOptions } from './address-guard.js';

/** Creates the `connect` function of an undici client or agent that connects only to checked addresses. */
export function guardedConnector(
  guard: AddressGuard,
  lookupOptions: LookupOptions,
  options: buildConnector.BuildOptions = {},
): buildConnector.connector {
  const connect = buildConnector({ ...options, lookup: guard.lookupFor(lookupOptions) });
  return (target, callback) => {
    const host = target.hostname.replace(/^\[|\]$/g, '');
    try {
      if (isIP(host) !== 0) guard.assertAllowed(host); // connected without a lookup
    } catch (error) {
      process.nextTick(callback, error, null); // asynchronous like the errors of a connection
      return;
    }
    connect(target, callback);
  };
}

/** Reason why a connection to an upstream failed; `connect` is any other reason. */
export type ConnectFailure = 'dns' | 'refused' | 'certificate' | 'tls' | 'connect';

/** @param error of a {@link guardedConnector} */
export function classifyConnectError(error: unknown): ConnectFailure {
  if (error instanceof AddressRejected) return 'refused';
  const code = String((error as NodeJS.ErrnoException).code);
  if (code === 'ENOTFOUND' || code.startsWith('EAI_')) return 'dns';
  if (/CERT|SIGN/.test(code)) return 'certificate';
  return /SSL|TLS|EPROTO/.test(code) ? 'tls' : 'connect';
}
