import { parser, Table } from '@lezer/markdown';
import { findWikilinks } from '../links/wikilinks';
import type { Wikilink } from '../links/wikilinks';
import { fileStem } from './file-kinds';

/** Note of a vault. */
interface Note {
  readonly path: string;
  readonly title: string;
  readonly slug: string;
}

/** Finds the slug of the note that a link names. */
export type FindNote = (target: string) => string | undefined;

const tableParser = parser.configure(Table);

/** Returns a function that finds the slug of a note by its path, file name or title, as Obsidian does. */
export function noteIndex(notes: readonly Note[]): FindNote {
  const names = new Map<string, string>();
  const add = (name: string, slug: string) => {
    if (!names.has(nameKey(name))) names.set(nameKey(name), slug);
  };
  for (const { path, slug } of notes) add(fileStem(path), slug);
  for (const { path, slug } of notes) {
    // The end of a path is enough, as in `Folder/Note` for `Vault/Folder/Note.md`.
    const parts = fileStem(path).split('/');
    for (let start = 1; start < parts.length; start++) add(parts.slice(start).join('/'), slug);
  }
  for (const { title, slug } of notes) add(title, slug);
  return (target) => names.get(nameKey(fileStem(target.trim())));
}

/** Names of files on macOS have decomposed accents, which links to them need not have. */
function nameKey(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

/**
 * Rewrites links to notes, such as `[[Note name#heading|text]]`, to `[[slug|text]]`. The text that was visible stays.
 * In tables, the bar is escaped.
 * Embedded files and code are not touched.
 */
export function rewriteNoteLinks(markdown: string, find: FindNote): string {
  const isInTable = findTables(markdown);
  return replaceLinks(markdown, ({ from, to, target, label }) => {
    const slug = isEmbedded(markdown, from) ? undefined : find(target);
    if (slug === undefined) return undefined;
    const text = label ?? target;
    const bar = isInTable(from) || markdown.slice(from, to).includes('\\|') ? '\\|' : '|';
    return text === slug ? `[[${slug}]]` : `[[${slug}${bar}${text}]]`;
  });
}

/** Replaces each link by its text and the place where it leads, so that links before and after an import are equal. */
export function expandNoteLinks(markdown: string, find: FindNote): string {
  return replaceLinks(markdown, ({ from, target, heading, label }) => {
    const slug = isEmbedded(markdown, from) ? undefined : find(target);
    return `[[${slug ?? target + heading}|${label ?? target}]]`;
  });
}

function isEmbedded(markdown: string, from: number): boolean {
  return markdown[from - 1] === '!';
}

/** Returns a function that tells whether a position is in a table, where bars separate cells. */
function findTables(markdown: string): (position: number) => boolean {
  if (!markdown.includes('|')) return () => false;
  const ranges: { from: number; to: number }[] = [];
  tableParser.parse(markdown).iterate({
    enter: ({ name, from, to }) => {
      if (name === 'Table') ranges.push({ from, to });
    },
  });
  return (position) => ranges.some(({ from, to }) => position >= from && position < to);
}

/** @param replace new text of a link, or undefined to leave it as it is */
function replaceLinks(markdown: string, replace: (link: Wikilink) => string | undefined): string {
  let result = '';
  let end = 0;
  for (const link of findWikilinks(markdown)) {
    const replacement = replace(link);
    if (replacement === undefined) continue;
    result += markdown.slice(end, link.from) + replacement;
    end = link.to;
  }
  return result + markdown.slice(end);
}
