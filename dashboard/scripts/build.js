/* Builds the dashboard if its sources changed since the last build. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';

const ROOT = join(import.meta.dirname, '..');
const STAMP = join(ROOT, 'dist/.sources');
/** The lock file of the repository covers the versions of all packages. */
const INPUTS = ['src', 'public', 'index.html', 'package.json', 'vite.config.ts', '../package-lock.json'];

const hash = hashSources();
if (hash !== readStamp()) {
  await build({ root: ROOT, logLevel: process.argv.includes('--verbose') ? 'info' : 'warn' });
  writeFileSync(STAMP, hash);
}

function hashSources() {
  const sources = createHash('sha256');
  for (const path of INPUTS.flatMap(listFiles)) {
    if (!path.includes('.spec.')) sources.update(`${path}\0`).update(readFileSync(join(ROOT, path)));
  }
  return sources.digest('hex');
}

/** Lists a file, or all files of a folder, in a fixed order. */
function listFiles(path) {
  try {
    const entries = readdirSync(join(ROOT, path), { withFileTypes: true, recursive: true });
    const files = entries.filter((entry) => entry.isFile());
    return files.map(({ parentPath, name }) => join(parentPath, name).slice(ROOT.length + 1)).sort();
  } catch (error) {
    if (error.code === 'ENOTDIR') return [path];
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}

function readStamp() {
  try {
    return readFileSync(STAMP, 'utf8');
  } catch {
    return undefined;
  }
}
