import { CliError, EXIT, UsageError } from '../errors.js';
import { isProtected, parseServer, serverText } from '../network/server-url.js';
import { findLogin } from './credentials.js';
import type { StoredLogin } from './credentials.js';

/** Profile of a user who names none. */
const DEFAULT_PROFILE = 'default';
const PROFILE_NAME = /^[\w.@-]{1,64}$/;

/** Login that a command uses. */
export interface SelectedLogin extends StoredLogin {
  /** Name of the profile; undefined if the login is from the environment. */
  readonly profile?: string;
}

/** Options that every command accepts. */
export interface SelectionOptions {
  readonly profile?: string;
}

/** Name of the selected profile. @throws UsageError */
export function selectProfile({ profile }: SelectionOptions): string {
  const { MINTKEEP_PROFILE = '' } = process.env;
  const name = profile ?? (MINTKEEP_PROFILE === '' ? DEFAULT_PROFILE : MINTKEEP_PROFILE);
  if (PROFILE_NAME.test(name) && name !== '__proto__') return name;
  throw new UsageError(
    `"${name}" is not a name of a profile`,
    'use 1 to 64 letters, digits, dots, hyphens, underscores and @',
  );
}

/** The option that selects a profile, after a space; empty for the default one. */
export function profileOption(profile: string): string {
  return profile === DEFAULT_PROFILE ? '' : ` --profile ${profile}`;
}

/**
 * Finds the login in the environment; undefined if neither variable is set.
 * @throws UsageError if only one of the two is set
 */
export function loginOfEnvironment(): SelectedLogin | undefined {
  const { MINTKEEP_URL: server = '', MINTKEEP_API_KEY: key = '', MINTKEEP_INSECURE } = process.env;
  if (server === '' && key === '') return undefined;
  if (key === '')
    throw new UsageError('MINTKEEP_URL is set without MINTKEEP_API_KEY', 'set both or neither of them');
  if (server === '')
    throw new UsageError('MINTKEEP_API_KEY is set without MINTKEEP_URL', 'set both or neither of them');
  const insecure = MINTKEEP_INSECURE === '1';
  const url = requireProtected(parseServer(server), insecure, 'set MINTKEEP_INSECURE=1');
  return { server: serverText(url), key, account: null, owner: null, insecure, storedIn: 'environment' };
}

/** Finds the login of the environment or of the selected profile. @throws CliError without a login */
export async function requireLogin(options: SelectionOptions): Promise<SelectedLogin> {
  const ofEnvironment = loginOfEnvironment();
  if (ofEnvironment) return ofEnvironment;
  const profile = selectProfile(options);
  const login = await findLogin(profile);
  if (!login) throw new NotLoggedIn(profile);
  requireProtected(parseServer(login.server), login.insecure, 'log in with --insecure');
  return { ...login, profile };
}

/** @throws UsageError if the address is plain http to another machine, and the user has not accepted that */
export function requireProtected(url: URL, isAccepted: boolean, remedy: string): URL {
  if (isAccepted || isProtected(url)) return url;
  throw new UsageError(
    `${serverText(url)} is plain http, so that others could read the key`,
    `use https, or ${remedy} to accept the risk`,
  );
}

/** There is no login for the profile. */
export class NotLoggedIn extends CliError {
  constructor(profile: string) {
    super(
      profile === DEFAULT_PROFILE ? 'not logged in' : `not logged in with the profile ${profile}`,
      `run "mintkeep login${profileOption(profile)}"`,
      EXIT.notLoggedIn,
    );
  }
}
