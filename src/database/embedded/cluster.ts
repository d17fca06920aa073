import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chown, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { syncFolder } from '../../common/files.js';
import { commandLine } from './account.js';
import type { Account } from './account.js';

export const SUPERUSER = 'mintkeep';

/** Nothing of ours is inherited: neither our secrets nor variables of PostgreSQL such as PGOPTIONS. */
export const ENVIRONMENT = { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' };

const DRAFT_PREFIX = 'postgres-init-';

/**
 * Makes the cluster unless it exists. It is made beside its place and moved there when complete, so that a
 * start killed half-way leaves nothing that looks like a cluster, and of two starts one makes it.
 */
export async function createCluster(
  cluster: string,
  dataDir: string,
  password: string,
  initdb: string,
  account: Account,
): Promise<void> {
  if (isComplete(cluster)) return;
  const draft = await mkdtemp(join(dataDir, DRAFT_PREFIX));
  try {
    await fillDraft(draft, password, initdb, account);
    await rename(join(draft, 'cluster'), cluster);
    await syncFolder(dataDir);
  } catch (error) {
    if (!isComplete(cluster)) throw error; // otherwise another start was first, and may have removed our draft
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Removes what killed starts left behind. */
export async function removeDrafts(dataDir: string): Promise<void> {
  const names = await readdir(dataDir);
  const drafts = names.filter((name) => name.startsWith(DRAFT_PREFIX));
  await Promise.all(drafts.map((name) => rm(join(dataDir, name), { recursive: true, force: true })));
}

function isComplete(cluster: string): boolean {
  return existsSync(join(cluster, 'PG_VERSION'));
}

/** Text is UTF-8 and sorted by code point whatever the machine's locales are. */
async function fillDraft(draft: string, password: string, initdb: string, account: Account): Promise<void> {
  const passwordFile = join(draft, 'password');
  await writeFile(passwordFile, password, { mode: 0o600 });
  const [command, args] = commandLine(account, initdb, [
    `--pgdata=${join(draft, 'cluster')}`,
    ...['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
    ...['--auth=scram-sha-256', `--username=${SUPERUSER}`, `--pwfile=${passwordFile}`],
  ]);
  if (account.owner) {
    await chown(passwordFile, account.owner.uid, account.owner.gid);
    await chown(draft, account.owner.uid, account.owner.gid);
  }
  await promisify(execFile)(command, args, { cwd: '/', env: ENVIRONMENT, ...account.spawnAs });
}
