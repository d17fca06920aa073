import { placeText } from '../credentials/credentials.js';
import { requireLogin } from '../credentials/selection.js';
import type { SelectedLogin, SelectionOptions } from '../credentials/selection.js';
import { CliError, EXIT, maskKey } from '../errors.js';
import type { Introspection } from '../network/introspection.js';
import { introspect, KeyRejected } from '../network/service.js';
import { describeLimits } from './limits.js';
import { pairs } from '../terminal/table.js';
import { print, printJson } from '../terminal/terminal.js';

/** Shows the login, and whether its key works. */
export async function status({ json, ...options }: SelectionOptions & { json?: boolean }): Promise<void> {
  const login = await requireLogin(options);
  let failure: CliError | undefined;
  const found = await introspect(login).catch((error: unknown) => {
    if (!(error instanceof CliError) || error.exitCode !== EXIT.failed) throw error;
    failure = error;
    return undefined;
  });
  if (json) printJson(describeAsJson(login, found, failure));
  else print(pairs([...describeLogin(login, found), ['Works', found ? 'yes' : 'no']]));
  if (failure) throw failure;
}

/** The response of the server. Without one, the members that are known here. */
function describeAsJson(login: SelectedLogin, found: Introspection | undefined, failure?: CliError): object {
  const { server, account, owner, key, storedIn: stored_in } = login;
  if (found) return { ...found, server, stored_in, works: true };
  if (failure instanceof KeyRejected) return { active: false, server, stored_in, works: false };
  return { server, account, owner, key: maskKey(key), stored_in, works: false };
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
