import { placeText } from '../credentials/credentials.js';
import { requireLogin } from '../credentials/selection.js';
import type { SelectedLogin, SelectionOptions } from '../credentials/selection.js';
import { maskKey } from '../errors.js';
import type { Introspection } from '../network/introspection.js';
import { introspect, KeyRejected } from '../network/service.js';
import { describeLimits } from './limits.js';
import { pairs } from '../terminal/table.js';
import { print, printJson } from '../terminal/terminal.js';

/** Shows the login, and whether its key works. */
export async function status({ json, ...options }: SelectionOptions & { json?: boolean }): Promise<void> {
  const login = await requireLogin(options);
  const { server, storedIn: stored_in } = login;
  let rejection: KeyRejected | undefined;
  const found = await introspect(login).catch((error: unknown) => {
    if (!(error instanceof KeyRejected)) throw error;
    rejection = error;
    return undefined;
  });
  if (json) printJson({ active: false, ...found, server, stored_in, works: found !== undefined });
  else print(pairs([...describeLogin(login, found), ['Works', found ? 'yes' : 'no']]));
  if (rejection) throw rejection;
}

function describeLogin(login: SelectedLogin, found: Introspection | undefined): [string, string][] {
  const account = found?.username ?? login.account;
  const owner = found ? `${found.organization.name} (${found.organization.kind})` : login.owner;
  const name = found ? ` (${found.key.name})` : '';
  return [
    ['Server', login.server],
    ...(account === null ? [] : [['Account', account] satisfies [string, string]]),
    ...(owner === null ? [] : [['Owner', owner] satisfies [string, string]]),
    ['Key', `${maskKey(login.key)}${name}`],
    ['Stored in', placeText(login.storedIn)],
    ...(found ? [['Expires', expiry(found)] satisfies [string, string]] : []),
    ...(found ? describeLimits(found) : []),
  ];
}

function expiry({ exp }: Introspection): string {
  return exp === undefined ? 'never' : new Date(exp * 1_000).toISOString();
}
