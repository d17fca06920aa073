/** Login of a profile, as it is stored. */
export interface Profile {
  readonly server: string;
  /** E-mail address of the holder; null if it is unknown. */
  readonly account: string | null;
  /** Name of the organization; null if it is unknown. */
  readonly owner: string | null;
  /** Whether the user accepted plain http to this server. */
  readonly insecure: boolean;
  /** The key; absent if it is in the keyring. */
  readonly key?: string;
  /** Name of the key's entry in the keyring. Every login has a new one, so that it cannot replace the old key early. */
  readonly keyring_entry?: string;
}

/** Contents of the file. */
export interface Profiles {
  readonly version: 1;
  readonly last_server?: string;
  readonly profiles: Readonly<Record<string, Profile>>;
}

export const NO_PROFILES: Profiles = { version: 1, profiles: {} };

/** Parses the file; undefined if it has another form. */
export function parseProfiles(text: string): Profiles | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value) || value.version !== 1 || !isObject(value.profiles)) return undefined;
  if (!Object.values(value.profiles).every(isProfile)) return undefined;
  if (value.last_server !== undefined && typeof value.last_server !== 'string') return undefined;
  return value as unknown as Profiles;
}

function isProfile(value: unknown): value is Profile {
  if (!isObject(value)) return false;
  const { server, key, keyring_entry: entry } = value;
  return typeof server === 'string' && (typeof key === 'string' || typeof entry === 'string');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
