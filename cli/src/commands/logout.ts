import { deleteLogin, findLogin, hasProfile, profileNames } from '../credentials/credentials.js';
import { KeyringUnavailable } from '../credentials/keyring.js';
import { loginOfEnvironment, NotLoggedIn, selectProfile } from '../credentials/selection.js';
import { CliError, EXIT, warn } from '../errors.js';
import { uninterrupted } from '../interruption.js';
import { revoke } from '../network/service.js';
import { print } from '../terminal/terminal.js';

interface LogoutOptions {
  readonly profile?: string;
  readonly all?: boolean;
  readonly force?: boolean;
}

/** Revokes the key on the server (RFC 7009), then deletes it here. */
export async function logout(options: LogoutOptions): Promise<void> {
  const ofEnvironment = loginOfEnvironment();
  if (ofEnvironment && !options.all) {
    await revoke(ofEnvironment);
    print(`Revoked the key of MINTKEEP_API_KEY at ${ofEnvironment.server}.`);
    return;
  }
  const profile = selectProfile(options);
  const profiles = options.all ? await profileNames() : [profile];
  if (profiles.length === 0) throw new NotLoggedIn(profile);
  const failures = [];
  for (const name of profiles) failures.push(await tryToLogOut(name, options));
  const [first] = failures.filter((failure) => failure !== undefined);
  if (first) throw first;
}

/** Returns the error, so that the other profiles of `--all` are still logged out. */
async function tryToLogOut(profile: string, { all, force }: LogoutOptions): Promise<CliError | undefined> {
  try {
    await logOut(profile, force === true);
    return undefined;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    if (!all || error.exitCode !== EXIT.failed) return error;
    return new CliError(`profile ${profile}: ${error.message}`, error.advice);
  }
}

/** Ctrl-C ends the wait for the server, but not the change of the file. */
async function logOut(profile: string, isForced: boolean): Promise<void> {
  let server: string | undefined;
  try {
    const login = await findLogin(profile);
    if (!login) return await deleteRest(profile);
    ({ server } = login);
    await revoke(login);
    print(`Logged out from ${server}.`);
  } catch (error) {
    const mayDelete = isForced && (server !== undefined || error instanceof KeyringUnavailable);
    if (!(error instanceof CliError)) throw error;
    if (!mayDelete) throw server === undefined ? error : withForce(error);
    warn(`the key was not revoked: ${error.message}`, 'revoke it in the dashboard');
    print('Deleted the key from this machine.');
  }
  await uninterrupted(() => deleteLogin(profile));
}

/** Deletes a profile whose key is gone from the keyring. @throws NotLoggedIn without a profile */
async function deleteRest(profile: string): Promise<void> {
  if (!(await hasProfile(profile))) throw new NotLoggedIn(profile);
  await uninterrupted(() => deleteLogin(profile));
  warn('the key is gone from the keyring and was not revoked', 'revoke it in the dashboard');
  print('Deleted the login from this machine.');
}

function withForce({ message, advice }: CliError): CliError {
  return new CliError(message, `${advice}, or pass --force to delete the key only here`);
}
