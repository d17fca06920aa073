import { execFileSync, spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname } from 'node:path';

export interface Ids {
  readonly uid: number;
  readonly gid: number;
}

/** Who runs PostgreSQL, and by which means. */
export interface Account {
  /** What goes before the program. */
  readonly command: readonly string[];
  /** Whom the system is to run it as; undefined: as us, because that is right or because the command sees to it. */
  readonly spawnAs?: Ids;
  /** To whom its files must belong; undefined: to us. */
  readonly owner?: Ids;
}

const USER = 'postgres';

/**
 * Clones below `/root`, or in a folder made by `mktemp -d`, are closed to everyone but root. One of these
 * lets PostgreSQL in; the first suffices, but containers seldom have it.
 */
const CAPABILITIES_THAT_OPEN_FOLDERS = ['dac_read_search', 'dac_override'];

/**
 * PostgreSQL refuses to run as root. Root therefore runs it as the owner of the cluster, which for a new one
 * is the user `postgres`.
 * @throws Error when that user has no way to the program or the data folder
 */
export function findAccount(program: string, dataDir: string, cluster: string): Account {
  if (process.geteuid?.() !== 0) return { command: [] };
  const owner = ownerOf(cluster) ?? postgresUser();
  const plain: Account = { command: [], spawnAs: owner, owner };
  const accounts = [plain, ...CAPABILITIES_THAT_OPEN_FOLDERS.map((name) => withCapability(name, owner))];
  const found = accounts.find((account) => canReach(account, program) && canReach(account, dataDir));
  if (found) return found;
  const folder = canReach(plain, program) ? dataDir : dirname(program);
  throw new Error(
    `PostgreSQL does not run as root, and its user (uid ${owner.uid}) cannot enter ${folder}: ` +
      'start mintkeep as an ordinary user, or move it to a folder that everyone may enter',
  );
}

/** The command line of `program` under the account. */
export function commandLine({ command }: Account, program: string, args: string[]): [string, string[]] {
  const [first = program, ...rest] = [...command, program, ...args];
  return [first, rest];
}

/** Undefined while there is no cluster. One that root has copied is root's: it is given away. */
function ownerOf(cluster: string): Ids | undefined {
  const stats = statSync(cluster, { throwIfNoEntry: false });
  if (stats?.uid !== 0) return stats && { uid: stats.uid, gid: stats.gid };
  const { uid, gid } = postgresUser();
  execFileSync('chown', ['-R', `${uid}:${gid}`, cluster]);
  return { uid, gid };
}

function postgresUser(): Ids {
  const ids = lookUpUser() ?? createUser();
  if (ids) return ids;
  throw new Error(
    `PostgreSQL does not run as root, and the user ${USER} cannot be created: start mintkeep as an ordinary user`,
  );
}

function lookUpUser(): Ids | undefined {
  const [uid, gid] = ['-u', '-g'].map((option) => spawnSync('id', [option, USER], { encoding: 'utf8' }));
  return uid?.status === 0 && gid?.status === 0
    ? { uid: Number(uid.stdout), gid: Number(gid.stdout) }
    : undefined;
}

function createUser(): Ids | undefined {
  spawnSync('groupadd', ['--system', '--force', USER]);
  const { error } = spawnSync('useradd', ['--system', '--no-create-home', '--gid', USER, USER]);
  if (error) {
    spawnSync('addgroup', ['-S', USER]); // busybox has no useradd
    spawnSync('adduser', ['-S', '-D', '-H', '-G', USER, USER]);
  }
  return lookUpUser();
}

/**
 * `no_setuid_fixup` because PostgreSQL looks for its files with access(2), which otherwise disregards the
 * capabilities of everyone but root.
 */
function withCapability(name: string, owner: Ids): Account {
  const ids = [`--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups'];
  const rights = [`--inh-caps=+${name}`, `--ambient-caps=+${name}`, '--securebits=+no_setuid_fixup'];
  return { command: ['setpriv', ...ids, ...rights], owner };
}

/** Asks the system rather than reading mode bits: those know neither ACLs nor what the capabilities open. */
function canReach(account: Account, path: string): boolean {
  const [command, args] = commandLine(account, 'test', ['-x', path]);
  return spawnSync(command, args, { cwd: '/', ...account.spawnAs }).status === 0;
}
