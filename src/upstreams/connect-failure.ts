import { AddressRefused } from './address-guard.js';

/** Why there is no connection to an upstream; `connect` where nothing more is known. */
export type ConnectFailure = 'dns' | 'refused' | 'certificate' | 'tls' | 'connect';

/** @param error of a {@link guardedConnector} */
export function connectFailureOf(error: unknown): ConnectFailure {
  if (error instanceof AddressRefused) return 'refused';
  const code = String((error as NodeJS.ErrnoException).code);
  if (code === 'ENOTFOUND' || code.startsWith('EAI_')) return 'dns';
  if (/CERT|SIGN/.test(code)) return 'certificate';
  return /SSL|TLS|EPROTO/.test(code) ? 'tls' : 'connect';
}
