import { randomUUID } from 'node:crypto';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { findStartTime, isAlive } from '../../common/process/processes.js';

const OWNER = 'owner.json';
const SEGMENT = /^\d{10}\.tsv$/;
/** UUID. Drafts and files beside the folders have other names. */
const FOLDER = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Time without a sign of life after which the folder of a process on another host may be taken over. */
export const SILENT_MS = 60_000;

/** A folder of segments that belongs to one process. */
export class JournalFolder {
  private constructor(readonly path: string) {}

  /** Creates a folder of this process. It becomes visible together with its owner file. */
  static create(root: string): JournalFolder {
    const name = randomUUID();
    const draft = join(root, `.${name}`);
    const path = join(root, name);
    mkdirSync(draft, { recursive: true, mode: 0o700 });
    try {
      writeOwner(draft);
      renameSync(draft, path);
    } catch (error) {
      rmSync(draft, { recursive: true, force: true });
      throw error;
    }
    return new JournalFolder(path);
  }

  /** Lists the folders whose process has ended or seems to have ended. They may be taken over. */
  static abandoned(root: string): JournalFolder[] {
    return filesIn(root)
      .filter((name) => FOLDER.test(name))
      .map((name) => new JournalFolder(join(root, name)))
      .filter((folder) => folder.isAbandoned());
  }

  /** Moves an abandoned folder to this process. @returns undefined if another process was faster */
  takeOver(root: string): JournalFolder | undefined {
    const taken = new JournalFolder(join(root, randomUUID()));
    try {
      renameSync(this.path, taken.path);
      writeOwner(taken.path);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
    return taken;
  }

  /** Shows other hosts that the owner is alive. @returns false if the folder was taken over or removed */
  sendHeartbeat(): boolean {
    try {
      const now = new Date();
      utimesSync(join(this.path, OWNER), now, now);
      return true;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }

  /** Numbers of the segments, oldest first. */
  segments(): number[] {
    const names = filesIn(this.path).filter((name) => SEGMENT.test(name));
    return names.map((name) => parseInt(name, 10)).sort((a, b) => a - b);
  }

  segmentPath(segment: number): string {
    return join(this.path, `${String(segment).padStart(10, '0')}.tsv`);
  }

  /** Leaves the folder to the process that finds it first. */
  release(): void {
    rmSync(join(this.path, OWNER), { force: true });
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }

  private isAbandoned(): boolean {
    const path = join(this.path, OWNER);
    try {
      const ended = hasEnded(JSON.parse(readFileSync(path, 'utf8')) as ProcessIdentity);
      return ended ?? Date.now() - statSync(path).mtimeMs > SILENT_MS;
    } catch {
      return true; // released, or its process was killed while it wrote the owner file
    }
  }
}

/** Identifies a process, so that others can find out whether it is running. */
interface ProcessIdentity {
  readonly hostname: string;
  readonly pid: number;
  /** Distinguishes processes with the same pid (in a container it is always 1); null where it is unknown. */
  readonly startedAt: string | null;
}

function writeOwner(folder: string): void {
  const owner: ProcessIdentity = {
    hostname: hostname(),
    pid: process.pid,
    startedAt: findStartTime(process.pid),
  };
  writeFileSync(join(folder, OWNER), JSON.stringify(owner), { mode: 0o600 });
}

/** @returns undefined for a process on another host, whose state is unknown */
function hasEnded(other: ProcessIdentity): boolean | undefined {
  if (other.hostname !== hostname()) return undefined;
  if (!isAlive(other.pid)) return true;
  const startedAt = findStartTime(other.pid);
  return startedAt !== null && other.startedAt !== null && startedAt !== other.startedAt;
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}
