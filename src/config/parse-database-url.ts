import { isDecodable } from '../common/text/text.js';
import type { Environment } from './environment.js';

type DatabaseSetting = 'DATABASE_URL' | 'USAGE_DATABASE_URL';

interface DatabaseUrls {
  /** Undefined if no database is set, or if its URL is wrong. */
  readonly databaseUrl?: string;
  /** Standby for queries of usage. */
  readonly usageDatabaseUrl?: string;
}

export function parseDatabaseUrls(env: Environment): DatabaseUrls {
  const databaseUrl = parseDatabaseUrl(env, 'DATABASE_URL');
  const usageDatabaseUrl = parseDatabaseUrl(env, 'USAGE_DATABASE_URL');
  if (env.has('USAGE_DATABASE_URL') && !env.has('DATABASE_URL'))
    env.wrong('USAGE_DATABASE_URL', 'is set, but DATABASE_URL is not');
  return { databaseUrl, usageDatabaseUrl };
}

function parseDatabaseUrl(env: Environment, name: DatabaseSetting): string | undefined {
  const problem = problemOfHost(env.valueOf(name) ?? '');
  if (problem !== undefined) {
    env.wrong(name, problem);
    return undefined;
  }
  const url = env.url(name);
  if (!url) return undefined;
  if (!isDecodable(url.username + url.password + url.pathname))
    env.wrong(name, 'has a percent sign that stands for itself: write %25');
  return url.href;
}

/** Problem of a URL that other clients of PostgreSQL accept, although the class `URL` does not. */
function problemOfHost(text: string): string | undefined {
  const [, host] = /^postgres(?:ql)?:\/\/(?:[^/?#]*@)?([^/?#]*)/.exec(text) ?? [];
  const inQuery = new URLSearchParams(text.split('?')[1]).get('host') ?? '';
  if (`${host}${inQuery}`.includes(',')) return 'must name one host';
  if (host !== '' || URL.canParse(text)) return undefined;
  return 'must name a host; a Unix socket is postgres://user@localhost/database?host=/run/postgresql';
}
