import { isIPv4 } from 'node:net';
import { UsageError } from '../errors.js';

const EXPECTED = 'pass an address such as https://mintkeep.example.com';
const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;

/**
 * Parses the address of a service. Keeps a path, removes slashes at its end.
 * @throws UsageError
 */
export function parseServer(text: string): URL {
  const given = text.trim();
  if (given.startsWith('mk_')) throw new UsageError('a key is not an address of a server', EXPECTED);
  const hasScheme = SCHEME.test(given);
  const url = toUrl(hasScheme ? given : `https://${given}`);
  if (!url || url.hostname === '') throw new UsageError(`"${given}" is not an address of a server`, EXPECTED);
  if (!hasScheme && isLoopback(url)) url.protocol = 'http:';
  const defect = findDefect(url);
  if (defect !== undefined) throw new UsageError(`the server's address ${defect}`, EXPECTED);
  return url;
}

function findDefect({ protocol, username, password, search, hash }: URL): string | undefined {
  if (protocol !== 'https:' && protocol !== 'http:') return `begins with ${protocol}//`;
  if (username !== '' || password !== '') return 'must not contain a user name or a password';
  return search === '' && hash === '' ? undefined : 'must not contain a query or a fragment';
}

/** The address without a slash at its end, as it is stored and shown. */
export function serverText(url: URL): string {
  return url.href.replace(/\/+$/, '');
}

/** Whether a key may be sent: with TLS, to this machine, or if the user accepts plain http. */
export function isProtected(url: URL): boolean {
  return url.protocol === 'https:' || isLoopback(url);
}

/** Whether the host is this machine, without a look-up of its name. */
export function isLoopback({ hostname }: URL): boolean {
  return (
    hostname === 'localhost' || hostname === '[::1]' || (isIPv4(hostname) && hostname.startsWith('127.'))
  );
}

function toUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}
