import { isLoopback } from './server-url.js';

type Fetch = (url: string, options: RequestInit) => Promise<Response>;

const VARIABLES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'];

let loaded: Promise<Fetch> | undefined;

/**
 * `fetch` that honours `HTTPS_PROXY` and `NO_PROXY`. Node 20 does not do so itself, and undici takes time to load: it is
 * loaded only if a proxy is set. Plain http to this machine never goes through a proxy, which could read the key.
 */
export async function proxiedFetch(url: string, options: RequestInit): Promise<Response> {
  const target = new URL(url);
  const isLocal = target.protocol === 'http:' && isLoopback(target);
  if (isLocal || VARIABLES.every((name) => !process.env[name])) return fetch(url, options);
  loaded ??= loadFetch();
  return (await loaded)(url, options);
}

async function loadFetch(): Promise<Fetch> {
  const { EnvHttpProxyAgent, fetch: fetchOfUndici } = await import('undici');
  const dispatcher = new EnvHttpProxyAgent();
  return (url, options) => fetchOfUndici(url, { ...(options as object), dispatcher });
}
