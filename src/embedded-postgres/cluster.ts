import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chown, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { syncFolder } from '../common/process/files.js';
import { isAlive } from '../common/process/processes.js';
import { commandLine } from './account.js';
import type { Account } from './account.js';

export const SUPERUSER = 'mintkeep';

/** Environment of PostgreSQL. Excludes the secrets of the service and variables such as PGOPTIONS. */
export const ENVIRONMENT = { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' };

/** Prefix of drafts. The id of the creating process follows, then a hyphen. */
const DRAFT_PREFIX = 'postgres-init-';

/** Options of removals. A killed initdb may still add files for a moment, so a removal needs retries. */
const REMOVAL = { recursive: true, force: true, maxRetries: 10, retryDelay: 50 };

/** Drafts of this process. The process id is not unique: in every container the process has the id 1. */
const openDrafts = new Set<string>();

/**
 * Creates the cluster unless it exists. A draft is renamed to the cluster when it is complete. A start that is killed
 * before leaves no incomplete cluster, and only one of two concurrent starts succeeds.
 */
export async function createCluster(
  cluster: string,
  dataDir: string,
  password: string,
  initdb: string,
  account: Account,
): Promise<void> {
  if (isComplete(cluster)) return;
  const draft = await mkdtemp(join(dataDir, `${DRAFT_PREFIX}${process.pid}-`));
  openDrafts.add(draft);
  try {
    await fillDraft(draft, password, initdb, account);
    await rename(join(draft, 'cluster'), cluster);
    await syncFolder(dataDir);
  } catch (error) {
    if (!isComplete(cluster)) throw error; // otherwise another start has created the cluster
  } finally {
    await rm(draft, REMOVAL);
    openDrafts.delete(draft);
  }
}

/**
 * Removes the drafts of starts that were killed. A draft of a process that runs is left alone: this process still
 * writes to the draft, and removes the draft itself.
 */
export async function removeDrafts(dataDir: string): Promise<void> {
  const names = await readdir(dataDir);
  const drafts = names.filter((name) => name.startsWith(DRAFT_PREFIX)).map((name) => join(dataDir, name));
  await Promise.all(drafts.filter(isAbandoned).map((draft) => rm(draft, REMOVAL)));
}

function isAbandoned(draft: string): boolean {
  const pid = parseInt(basename(draft).slice(DRAFT_PREFIX.length), 10);
  if (pid === process.pid) return !openDrafts.has(draft);
  return Number.isNaN(pid) || !isAlive(pid);
}

function isComplete(cluster: string): boolean {
  return existsSync(join(cluster, 'PG_VERSION'));
}

/** Runs initdb. Text is UTF-8 and sorted by code point, independent of the locales of the machine. */
async function fillDraft(draft: string, password: string, initdb: string, account: Account): Promise<void> {
  const passwordFile = join(draft, 'password');
  await writeFile(passwordFile, password, { mode: 0o600 });
  const [command, args] = commandLine(account, initdb, [
    `--pgdata=${join(draft, 'cluster')}`,
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--auth=scram-sha-256',
    `--username=${SUPERUSER}`,
    `--pwfile=${passwordFile}`,
  ]);
  if (account.owner) {
    await chown(passwordFile, account.owner.uid, account.owner.gid);
    await chown(draft, account.owner.uid, account.owner.gid);
  }
  await promisify(execFile)(command, args, { cwd: '/', env: ENVIRONMENT, ...account.spawnAs });
}
