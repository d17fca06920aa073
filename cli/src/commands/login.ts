import { hostname } from 'node:os';
import {
  addAccount,
  findLogin,
  isInsecureAccepted,
  lastServer,
  placeText,
  storeLogin,
} from '../credentials/credentials.js';
import type { StoredLogin } from '../credentials/credentials.js';
import { KeyringUnavailable } from '../credentials/keyring.js';
import {
  loginOfEnvironment,
  profileOption,
  requireProtected,
  selectProfile,
} from '../credentials/selection.js';
import { CliError, maskKey, warn } from '../errors.js';
import { onInterruption, uninterrupted } from '../interruption.js';
import { openBrowser } from '../login/browser.js';
import { discoverServer } from '../login/authorization-server.js';
import { beginDeviceFlow, waitForKey } from '../login/device-flow.js';
import { parseServer, serverText } from '../network/server-url.js';
import { introspect, revoke } from '../network/service.js';
import { printable } from '../terminal/printable.js';
import { minutesAndSeconds, startSpinner } from '../terminal/spinner.js';
import { bold, isTerminal, print, printJson } from '../terminal/terminal.js';

const DEFAULT_SERVER = 'http://localhost:3000';

/** Options of the command line. */
export interface LoginOptions {
  readonly name?: string;
  readonly profile?: string;
  readonly browser: boolean;
  readonly insecure?: boolean;
  readonly json?: boolean;
}

/** A finished login. */
interface Result {
  readonly server: string;
  readonly account: string | null;
  readonly owner: string | null;
  readonly key: string;
  readonly stored_in: string;
}

/** Obtains a key by the device flow (RFC 8628) and stores it. */
export async function login(serverArgument: string | undefined, options: LoginOptions): Promise<void> {
  const profile = selectProfile(options);
  const isOverridden = loginOfEnvironment() !== undefined;
  const former = await findFormer(profile);
  const url = parseServer(serverArgument ?? (await lastServer()) ?? DEFAULT_SERVER);
  const server = serverText(url);
  const insecure = options.insecure === true || (await isInsecureAccepted(profile, server));
  requireProtected(url, insecure, 'pass --insecure');
  const key = await obtainKey(server, options);
  const result = await keep(profile, { server, key, insecure }, former);
  if (options.json) printJson(result);
  else printResult(result, profile);
  if (isOverridden) warn('MINTKEEP_URL and MINTKEEP_API_KEY override this login', 'unset them to use it');
}

async function findFormer(profile: string): Promise<StoredLogin | undefined> {
  try {
    return await findLogin(profile);
  } catch (error) {
    if (!(error instanceof KeyringUnavailable)) throw error;
    warn('the former key is in the keyring, which is unavailable', 'revoke it in the dashboard');
    return undefined;
  }
}

/** Shows the code, and waits until a person has approved it. */
async function obtainKey(server: string, { name, browser, json }: LoginOptions): Promise<string> {
  const configuration = await discoverServer(server);
  const codes = await beginDeviceFlow(configuration, server, { name, hostname: hostname() });
  const { user_code, verification_uri, verification_uri_complete, expires_in } = codes;
  if (json) printJson({ verification_uri, verification_uri_complete, user_code, expires_in });
  const prompt = bold('Open this address and enter the code:', process.stderr);
  // The address and the code stay plain, so that each is a line of its own for programs that read the terminal.
  process.stderr.write(`${prompt}\n\n${printable(verification_uri)}\n${printable(user_code)}\n\n`);
  if (browser && isTerminal(process.stdin)) await openBrowser(verification_uri_complete ?? verification_uri);
  const deadline = Date.now() + expires_in * 1_000;
  let failure: string | undefined;
  const stop = startSpinner(() => {
    const left = minutesAndSeconds((deadline - Date.now()) / 1_000);
    const reason = failure === undefined ? '' : `; ${printable(failure)}; trying again`;
    return `Waiting for approval, ${left} left${reason}`;
  });
  const withdraw = onInterruption(() => {
    stop();
    warn('interrupted before the approval', 'run "mintkeep login" again');
  });
  try {
    return await waitForKey(configuration, server, codes, (reason) => (failure = reason));
  } finally {
    withdraw();
    stop();
  }
}

interface NewKey {
  readonly server: string;
  readonly key: string;
  readonly insecure: boolean;
}

/**
 * Stores the new key first, so that a failure never leaves the user without a key, then revokes the former one. Ctrl-C
 * waits only for the first step.
 */
async function keep(profile: string, fields: NewKey, login: StoredLogin | undefined): Promise<Result> {
  const { server, key } = fields;
  const former = login?.key === key ? undefined : login;
  let withdraw = (): unknown => undefined;
  const stored_in = await uninterrupted(async () => {
    const place = await storeOrRevoke(profile, fields);
    withdraw = onInterruption(() => warnOfInterruption(former));
    return place;
  });
  try {
    const { account, owner } = await describeKey(profile, { server, key });
    if (former) await revokeFormer(former);
    return { server, account, owner, key: maskKey(key), stored_in };
  } finally {
    withdraw();
  }
}

function warnOfInterruption(former: StoredLogin | undefined): void {
  warn('interrupted after the new key was stored', 'run "mintkeep status"');
  if (former) warn(`the former key ${maskKey(former.key)} may still be valid`, 'revoke it in the dashboard');
}

/** A key that cannot be stored would stay valid without anyone who has it. */
async function storeOrRevoke(profile: string, { server, key, insecure }: NewKey): Promise<string> {
  try {
    return await storeLogin(profile, { server, key, insecure, account: null, owner: null });
  } catch (error) {
    await revoke({ server, key }).catch(() => {
      warn(`the new key ${maskKey(key)} could not be revoked`, 'revoke it in the dashboard');
    });
    throw error;
  }
}

async function describeKey(profile: string, access: { server: string; key: string }) {
  try {
    const { username: account, organization } = await introspect(access);
    await addAccount(profile, account, organization.name);
    return { account, owner: organization.name };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    warn(`the account is unknown: ${error.message}`, 'run "mintkeep status" later');
    return { account: null, owner: null };
  }
}

async function revokeFormer(former: StoredLogin): Promise<void> {
  try {
    await revoke(former);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const name = `the former key ${maskKey(former.key)}`;
    warn(`${name} could not be revoked: ${error.message}`, 'revoke it in the dashboard');
  }
}

function printResult({ server, account, owner, key, stored_in }: Result, profile: string): void {
  const option = profileOption(profile);
  const who = account === null ? '' : ` as ${printable(account)}`;
  print(`Logged in to ${server}${who}.`);
  if (owner !== null) print(`Owner: ${printable(owner)}`);
  print(`Key: ${key}, stored in ${placeText(stored_in)}`);
  print(`Next: mintkeep run${option} COMMAND, or eval "$(mintkeep env${option})"`);
}
