import { findWikilinks } from '../links/wikilinks';
import { fileStem } from './file-kinds';

/** Note of a vault. */
interface Note {
  readonly path: string;
  readonly title: string;
  readonly slug: string;
}

/** Returns a function that finds the slug of a note by its path, file name or title, as Obsidian does. */
export function noteIndex(notes: readonly Note[]): (target: string) => string | undefined {
  const names = new Map<string, string>();
  const add = (name: string, slug: string) => {
    if (!names.has(name.toLowerCase())) names.set(name.toLowerCase(), slug);
  };
  for (const { path, slug } of notes) add(fileStem(path), slug);
  for (const { path, slug } of notes) {
    // The end of a path is enough, as in `Folder/Note` for `Vault/Folder/Note.md`.
    const parts = fileStem(path).split('/');
    for (let start = 1; start < parts.length; start++) add(parts.slice(start).join('/'), slug);
  }
  for (const { title, slug } of notes) add(title, slug);
  return (target) => names.get(fileStem(target.trim()).toLowerCase());
}

/**
 * Rewrites links to notes, such as `[[Note name#heading|text]]`, to `[[slug|text]]`. The text that was visible stays.
 * Embedded files and code are not touched.
 */
export function rewriteNoteLinks(markdown: string, find: (target: string) => string | undefined): string {
  let result = '';
  let end = 0;
  for (const { from, to, target, label } of findWikilinks(markdown)) {
    const slug = markdown[from - 1] === '!' ? undefined : find(target);
    if (slug === undefined) continue;
    const bar = markdown.slice(from, to).includes('\\|') ? '\\|' : '|';
    const text = label ?? target;
    result += markdown.slice(end, from) + (text === slug ? `[[${slug}]]` : `[[${slug}${bar}${text}]]`);
    end = to;
  }
  return result + markdown.slice(end);
}
