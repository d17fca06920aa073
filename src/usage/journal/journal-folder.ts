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
import { join } from 'node:path';
import { hasEnded, thisProcess } from './process-identity.js';
import type { ProcessIdentity } from './process-identity.js';

const OWNER = 'owner.json';
/**
 * Named so since lines were JSON: an earlier version that takes a folder over would see nothing under another name,
 * and remove it.
 */
const SEGMENT = /^\d{10}\.jsonl$/;
/** The form of a UUID: neither one that is being made, nor what else lies beside them. */
const FOLDER = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** How long a process on another host may be silent before its folder is taken from it. */
export const SILENT_MS = 60_000;

/** A folder of segments that belongs to one process. */
export class JournalFolder {
  private constructor(readonly path: string) {}

  /** Makes a folder of this process; it appears with its owner in it. */
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

  /** The folders whose process has ended, or seems to have: they may be taken. */
  static abandoned(root: string): JournalFolder[] {
    return listOf(root)
      .filter((name) => FOLDER.test(name))
      .map((name) => new JournalFolder(join(root, name)))
      .filter((folder) => folder.isAbandoned());
  }

  /** Makes an abandoned folder this process's. Undefined when another process was first. */
  take(root: string): JournalFolder | undefined {
    const taken = new JournalFolder(join(root, randomUUID()));
    try {
      renameSync(this.path, taken.path);
      writeOwner(taken.path);
    } catch (error) {
      if (isGone(error)) return undefined;
      throw error;
    }
    return taken;
  }

  /** Tells other hosts that the owner lives. False when the folder has been taken, or removed. */
  beat(): boolean {
    try {
      const now = new Date();
      utimesSync(join(this.path, OWNER), now, now);
      return true;
    } catch (error) {
      if (isGone(error)) return false;
      throw error;
    }
  }

  /** The numbers of the segments, oldest first. */
  segments(): number[] {
    const names = listOf(this.path).filter((name) => SEGMENT.test(name));
    return names.map((name) => parseInt(name, 10)).sort((a, b) => a - b);
  }

  segmentPath(segment: number): string {
    return join(this.path, `${String(segment).padStart(10, '0')}.jsonl`);
  }

  /** Leaves it to whoever finds it. */
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
      return true; // released, or written by a process that was killed at it
    }
  }
}

function writeOwner(folder: string): void {
  writeFileSync(join(folder, OWNER), JSON.stringify(thisProcess()), { mode: 0o600 });
}

function listOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
}

function isGone(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}
