import { isDecodable } from '../common/text/text.js';
import type { Environment } from './environment.js';

/** Undefined if no database is set, or if its URL is wrong. */
export function parseDatabaseUrl(env: Environment): string | undefined {
  const problem = problemOfHost(env.valueOf('DATABASE_URL') ?? '');
  if (problem !== undefined) {
    env.wrong('DATABASE_URL', problem);
    return undefined;
  }
  const url = env.url('DATABASE_URL');
  if (!url) return undefined;
  if (!isDecodable(url.username + url.password + url.pathname))
    env.wrong('DATABASE_URL', 'has a percent sign that stands for itself: write %25');
  return url.href;
}

/** Problem of a URL that other clients of PostgreSQL accept, although the class `URL` does not. */
function problemOfHost(text: string): string | undefined {
  const [, host] = /^postgres(?:ql)?:\/\/(?:[^/?#]*@)?([^/?#]*)/.exec(text) ?? [];
  const inQuery = new URLSearchParams(text.split('?')[1]).get('host') ?? '';
  if (`${host}${inQuery}`.includes(',')) return 'must name one host, that of the primary';
  if (host !== '' || URL.canParse(text)) return undefined;
  return 'must name a host; a Unix socket is postgres://user@localhost/database?host=/run/postgresql';
}
