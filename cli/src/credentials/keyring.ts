import type { AsyncEntry } from '@napi-rs/keyring';
import { CliError } from '../errors.js';

const SERVICE = 'mintkeep';

/**
 * Stores a key in the system's keyring.
 * @returns false if there is no keyring
 */
export async function storeInKeyring(name: string, key: string): Promise<boolean> {
  try {
    const entry = await openEntry(name);
    if (!entry) return false;
    await entry.setPassword(key);
    if ((await entry.getPassword()) === key) return true;
    await entry.deletePassword();
  } catch {
    // A keyring that exists, but is locked or has no daemon, counts as none: the file takes its place.
  }
  return false;
}

/** @throws KeyringUnavailable */
export async function readFromKeyring(name: string): Promise<string | undefined> {
  try {
    const entry = await openEntry(name);
    if (entry) return (await entry.getPassword()) ?? undefined;
  } catch {
    // The text of the keyring's error adds nothing that the user can act on.
  }
  throw new KeyringUnavailable();
}

/** Deletes a key, on a best-effort basis: nobody can use it any more after its revocation. */
export async function deleteFromKeyring(name: string): Promise<void> {
  try {
    await (await openEntry(name))?.deletePassword();
  } catch {
    return;
  }
}

/** Undefined without a keyring. The kernel's keyring of Linux forgets keys at a restart and therefore does not count. */
async function openEntry(name: string): Promise<AsyncEntry | undefined> {
  if (process.env.MINTKEEP_KEYRING === 'off') return undefined;
  const module = await import('@napi-rs/keyring').catch(() => undefined);
  return module && new module.AsyncEntry(SERVICE, name, { linux: { store: 'secret-service' } });
}

/** The key was stored in a keyring that cannot be read now. */
export class KeyringUnavailable extends CliError {
  constructor() {
    super('the key is in the keyring, which is unavailable', 'unlock the keyring, or log in again');
  }
}
