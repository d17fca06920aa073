import { LinkIndex } from '../links/link-index';
import { SLUG_PATTERN, uniqueSlug } from '../text/slug';
import type { RawFile } from './archive/archive';
import { earlierImports } from './comparison';
import type { ExistingDocument, ReadFile } from './comparison';
import { fileStem, isIgnored, rejectPath } from './file-kinds';
import { readFrontMatter } from './front-matter';
import { noteIndex, rewriteNoteLinks } from './note-links';

/** Handling of a slug that a document of the project has. */
export type TakenChoice = 'skip' | 'rename' | 'replace';

/** Document to store. */
export interface PlannedDocument {
  readonly path: string;
  readonly title: string;
  readonly slug: string;
  readonly content: string;
  /** Document to replace; a new one is created if it is absent. */
  readonly replaces?: number;
}

/** File that is not stored. */
export interface SkippedFile {
  readonly path: string;
  readonly reason: string;
}

/** Changes that an import will make, and the files that it leaves out. */
export interface ImportPlan {
  readonly documents: readonly PlannedDocument[];
  readonly skipped: readonly SkippedFile[];
  /** Files whose documents exist with the same text, for example after an interrupted import. */
  readonly unchanged: readonly string[];
  /** Number of files whose slug another document has. */
  readonly takenCount: number;
}

/** Choices that the plan of an import depends on. */
export interface ImportOptions {
  readonly taken: TakenChoice;
  readonly slugify: (text: string) => string;
}

const MAX_BODY_BYTES = 1_048_576;
/** Characters. */
const MAX_TITLE_LENGTH = 255;

/** Decides about every file before the first one is stored. */
export function planImport(
  files: readonly RawFile[],
  existing: readonly ExistingDocument[],
  { taken, slugify }: ImportOptions,
): ImportPlan {
  const skipped: SkippedFile[] = [];
  const read: ReadFile[] = [];
  for (const file of files.map(composePath).toSorted(byPath)) {
    if (isIgnored(file.path)) continue;
    const result = readFile(file, slugify);
    if ('reason' in result) skipped.push(result);
    else read.push(result);
  }
  const project = new LinkIndex(existing);
  const findInProject = (target: string) => project.find(target.normalize('NFC'))?.slug;
  const isSame = earlierImports(read, findInProject);
  const { placed, unchanged, takenCount } = placeAll(read, existing, { taken, isSame, skipped });
  const findNote = noteIndex(placed);
  const documents: PlannedDocument[] = [];
  for (const document of placed.filter(({ isStored }) => isStored)) {
    const { path, title, slug, replaces } = document;
    const content = rewriteNoteLinks(document.content, (target) => findNote(target) ?? findInProject(target));
    const planned = { path, title, slug, content, ...(replaces !== undefined && { replaces }) };
    if (bodyBytes(planned) > MAX_BODY_BYTES) skipped.push({ path, reason: 'larger than 1 MiB' });
    else documents.push(planned);
  }
  return { documents, skipped, unchanged, takenCount };
}

/** macOS decomposes the accents in names of files. */
function composePath({ path, bytes }: RawFile): RawFile {
  return { path: path.normalize('NFC'), bytes };
}

function byPath(a: RawFile, b: RawFile): number {
  return a.path < b.path ? -1 : Number(a.path > b.path);
}

/** Decodes a file and finds its title and slug, or the reason why it cannot be a document. */
function readFile({ path, bytes }: RawFile, slugify: (text: string) => string): ReadFile | SkippedFile {
  const rejection = rejectPath(path);
  if (rejection !== undefined) return { path, reason: rejection };
  if (bytes.length > MAX_BODY_BYTES) return { path, reason: 'larger than 1 MiB' };
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return { path, reason: 'not valid UTF-8' };
  }
  const slug = slugify(fileStem(path).replaceAll('/', '-'));
  if (!SLUG_PATTERN.test(slug)) return { path, reason: 'the file name has no letters or digits for a slug' };
  const { title: matter, body, rest } = readFrontMatter(text);
  const title = [matter, readHeading(rest), fileStem(path).split('/').at(-1)].find((one) => one?.trim());
  return { path, title: cleanTitle(title ?? slug), slug, content: body };
}

/** First heading of level 1. */
function readHeading(text: string): string | undefined {
  return /^# +(.+?)(?:\s+#+)?\s*$/m.exec(text.replace(/^(```|~~~)[\s\S]*?^\1/gm, ''))?.[1];
}

function cleanTitle(title: string): string {
  return [...title.replaceAll('\0', '').normalize('NFC').trim()].slice(0, MAX_TITLE_LENGTH).join('').trim();
}

/** File with its final slug. */
interface PlacedFile extends ReadFile {
  readonly replaces: number | undefined;
  /** Whether the file is stored. Others are only known as targets of links. */
  readonly isStored: boolean;
}

interface Placement {
  readonly taken: TakenChoice;
  readonly isSame: (file: ReadFile, document: ExistingDocument) => boolean;
  /** Receives the files whose slug is taken. */
  readonly skipped: SkippedFile[];
}

function placeAll(
  files: readonly ReadFile[],
  existing: readonly ExistingDocument[],
  { taken: choice, isSame, skipped }: Placement,
) {
  const bySlug = new Map(existing.map((document) => [document.slug, document]));
  const used = new Set<string>();
  const unchanged: string[] = [];
  let takenCount = 0;
  const placed = files.map((file): PlacedFile => {
    const free = uniqueSlug(file.slug, (slug) => used.has(slug));
    const same = findSame(free, bySlug, used, (document) => isSame(file, document));
    const taken = bySlug.get(free);
    const isTaken = (one: string) => used.has(one) || bySlug.has(one);
    const slug = same ?? (choice === 'rename' ? uniqueSlug(free, isTaken) : free);
    used.add(slug);
    if (same !== undefined) unchanged.push(file.path);
    else if (taken) {
      takenCount++;
      if (choice === 'skip') skipped.push({ path: file.path, reason: `the slug ${free} is taken` });
    }
    const isStored = same === undefined && (!taken || choice !== 'skip');
    const replaces = choice === 'replace' ? taken?.id : undefined;
    return { ...file, slug, isStored, replaces };
  });
  return { placed, unchanged, takenCount };
}

/** Slug under which an earlier import stored a file, if it did. */
function findSame(
  slug: string,
  bySlug: ReadonlyMap<string, ExistingDocument>,
  used: ReadonlySet<string>,
  isSame: (document: ExistingDocument) => boolean,
): string | undefined {
  const seen = new Set<string>();
  for (
    let candidate = slug;
    bySlug.has(candidate);
    candidate = uniqueSlug(slug, (one) => seen.has(one) || used.has(one))
  ) {
    if (isSame(bySlug.get(candidate)!)) return candidate;
    seen.add(candidate);
  }
  return undefined;
}

function bodyBytes({ title, slug, content }: PlannedDocument): number {
  return new TextEncoder().encode(JSON.stringify({ title, slug, content })).length;
}
