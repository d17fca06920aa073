import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readUnlessAbsent } from '../common/process/files.js';

const SECRET_BYTES = 32;

/**
 * Returns the 32 random bytes under `$DATA_DIR/secrets/<name>` (base64, mode 0600). The first call generates them. If two
 * processes call at the same time, both get the same bytes.
 */
export function loadOrCreateSecret(dataDir: string, name: string): Buffer {
  const folder = join(dataDir, 'secrets');
  const path = join(folder, name);
  const existing = readSecret(path);
  if (existing) return existing;
  mkdirSync(dataDir, { recursive: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, randomBytes(SECRET_BYTES).toString('base64'), { mode: 0o600, flush: true });
  try {
    linkSync(draft, path); // fails if another process was first; the secret of that process applies
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return readSecret(path)!;
}

function readSecret(path: string): Buffer | undefined {
  const text = readUnlessAbsent(path);
  return text === undefined ? undefined : Buffer.from(text, 'base64');
}
