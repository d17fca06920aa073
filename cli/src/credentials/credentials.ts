import { randomUUID } from 'node:crypto';
import { deleteFromKeyring, readFromKeyring, storeInKeyring } from './keyring.js';
import { credentialsPath } from './paths.js';
import type { Profile, Profiles } from './profile.js';
import { changeProfiles, readProfiles } from './profiles-file.js';

/** Key of a profile, with its place. */
export interface StoredLogin extends Omit<Profile, 'key' | 'keyring_entry'> {
  readonly key: string;
  /** `keyring`, or the path of the file. */
  readonly storedIn: string;
}

type NewLogin = Omit<StoredLogin, 'storedIn'>;

/** Place of a key in the keyring. */
const KEYRING = 'keyring';

/** Describes the place of a key to users. */
export function placeText(storedIn: string): string {
  return storedIn === KEYRING ? 'the keyring' : storedIn;
}

/** Finds the login of a profile. @throws CliError */
export async function findLogin(name: string): Promise<StoredLogin | undefined> {
  return toLogin(ownProfile(await readProfiles(), name));
}

/** Whether a profile has a login, even one whose key is gone from the keyring. @throws CliError */
export async function hasProfile(name: string): Promise<boolean> {
  return ownProfile(await readProfiles(), name) !== undefined;
}

/** Whether the user accepted plain http to this server in the profile. Does not read the key. @throws CliError */
export async function isInsecureAccepted(name: string, server: string): Promise<boolean> {
  const profile = ownProfile(await readProfiles(), name);
  return profile?.server === server && profile.insecure === true;
}

/** Names of all profiles with a login. @throws CliError */
export async function profileNames(): Promise<string[]> {
  return Object.keys((await readProfiles()).profiles);
}

/** The server of the last login. @throws CliError */
export async function lastServer(): Promise<string | undefined> {
  return (await readProfiles()).last_server;
}

/**
 * Stores the login of a profile, in the keyring if there is one. Replaces the profile's former login.
 * @returns the place of the key
 * @throws CliError
 */
export async function storeLogin(name: string, { key, ...login }: NewLogin): Promise<string> {
  const entry = randomUUID();
  const isInKeyring = await storeInKeyring(entry, key);
  const profile: Profile = { ...login, ...(isInKeyring ? { keyring_entry: entry } : { key }) };
  let former: Profile | undefined;
  try {
    await changeProfiles((all) => {
      former = ownProfile(all, name);
      return { ...all, last_server: login.server, profiles: { ...all.profiles, [name]: profile } };
    });
  } catch (error) {
    if (isInKeyring) await deleteFromKeyring(entry);
    throw error;
  }
  if (former?.keyring_entry !== undefined) await deleteFromKeyring(former.keyring_entry);
  return isInKeyring ? KEYRING : credentialsPath();
}

/** Adds the account and the owner to a login, once the server has returned them. @throws CliError */
export function addAccount(name: string, account: string, owner: string): Promise<void> {
  return changeProfiles((all) => {
    const profile = ownProfile(all, name);
    if (!profile) return all;
    return { ...all, profiles: { ...all.profiles, [name]: { ...profile, account, owner } } };
  });
}

/** Deletes the login of a profile; the server of the last login stays known. @throws CliError */
export async function deleteLogin(name: string): Promise<void> {
  let former: Profile | undefined;
  await changeProfiles((all) => {
    former = ownProfile(all, name);
    const others = Object.entries(all.profiles).filter(([other]) => other !== name);
    return { ...all, profiles: Object.fromEntries(others) };
  });
  if (former?.keyring_entry !== undefined) await deleteFromKeyring(former.keyring_entry);
}

function ownProfile({ profiles }: Profiles, name: string): Profile | undefined {
  return Object.hasOwn(profiles, name) ? profiles[name] : undefined;
}

async function toLogin(profile: Profile | undefined): Promise<StoredLogin | undefined> {
  if (!profile) return undefined;
  const { server, account = null, owner = null, insecure = false, keyring_entry: entry } = profile;
  const login = { server, account, owner, insecure };
  if (entry === undefined) return { ...login, key: profile.key!, storedIn: credentialsPath() };
  const key = await readFromKeyring(entry);
  return key === undefined ? undefined : { ...login, key, storedIn: KEYRING };
}
