import { execFileSync, spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname } from 'node:path';

interface Ids {
  readonly uid: number;
  readonly gid: number;
}

/** The user that runs PostgreSQL and owns its files, and how programs are started as that user. */
export interface Account {
  /** Undefined: the user of this process. */
  readonly owner?: Ids;
  /** User that the operating system switches to. Undefined if no switch is needed, or if `command` switches. */
  readonly spawnAs?: Ids;
  /** Words that precede the program on the command line. */
  readonly command: readonly string[];
}

const USER = 'postgres';

/**
 * Capability with which the user enters folders that only root may enter, such as a checkout below `/root`.
 * Containers seldom have it; there every folder that is used has to be open to the user.
 */
const ENTERS_CLOSED_FOLDERS = 'dac_read_search';

/**
 * PostgreSQL does not run as root. Root therefore runs it as the owner of the cluster; a new cluster belongs to the
 * user `postgres`, which is created if it is missing.
 * @throws Error if that user cannot enter the folder of the program or the data folder
 */
export function findAccount(program: string, dataDir: string, cluster: string): Account {
  if (process.geteuid?.() !== 0) return { command: [] };
  const owner = ownerOf(cluster) ?? postgresUser();
  const folders = [dirname(program), dataDir];
  const accounts = [
    { owner, spawnAs: owner, command: [] },
    { owner, command: withCapability(owner) },
  ];
  const account = accounts.find((candidate) => folders.every((folder) => canEnter(candidate, folder)));
  if (account) return account;
  const closed = folders.find((folder) => !canEnter(accounts[0]!, folder))!;
  throw new Error(
    `PostgreSQL does not run as root, and its user (uid ${owner.uid}) cannot enter ${closed}: ` +
      'start mintkeep as an ordinary user, or move it to a folder that everyone may enter',
  );
}

/** The command line that runs `program` under the account. */
export function commandLine({ command }: Account, program: string, args: string[]): [string, string[]] {
  const [first = program, ...rest] = [...command, program, ...args];
  return [first, rest];
}

/** Finds the owner of the cluster. Undefined while there is none. Gives a cluster of root to the user `postgres`. */
function ownerOf(cluster: string): Ids | undefined {
  const stats = statSync(cluster, { throwIfNoEntry: false });
  if (stats?.uid !== 0) return stats && { uid: stats.uid, gid: stats.gid };
  const { uid, gid } = postgresUser();
  execFileSync('chown', ['-R', `${uid}:${gid}`, cluster]);
  return { uid, gid };
}

function postgresUser(): Ids {
  const ids = lookUpUser() ?? createPostgresUser();
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

function createPostgresUser(): Ids | undefined {
  spawnSync('groupadd', ['--system', '--force', USER]);
  const { error } = spawnSync('useradd', ['--system', '--no-create-home', '--gid', USER, USER]);
  if (error) {
    spawnSync('addgroup', ['-S', USER]); // busybox has no useradd
    spawnSync('adduser', ['-S', '-D', '-H', '-G', USER, USER]);
  }
  return lookUpUser();
}

/**
 * Command that keeps one capability of root. `no_setuid_fixup`, because PostgreSQL looks for its files with access(2),
 * which otherwise ignores the capabilities of ordinary users.
 */
function withCapability({ uid, gid }: Ids): string[] {
  const ids = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
  const capability = `+${ENTERS_CLOSED_FOLDERS}`;
  return [
    'setpriv',
    ...ids,
    `--inh-caps=${capability}`,
    `--ambient-caps=${capability}`,
    '--securebits=+no_setuid_fixup',
  ];
}

/** Whether the account can enter the folder. Mode bits alone ignore ACLs, parent folders and capabilities. */
function canEnter(account: Account, folder: string): boolean {
  const [command, args] = commandLine(account, 'test', ['-x', folder]);
  return spawnSync(command, args, { cwd: '/', ...account.spawnAs }).status === 0;
}
