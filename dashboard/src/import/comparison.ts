import { expandNoteLinks, noteIndex } from './note-links';
import type { FindNote } from './note-links';

/** Document of the project. */
export interface ExistingDocument {
  readonly id: number;
  readonly slug: string;
  readonly title: string;
  readonly content: string;
}

/** Text file before its slug is decided. */
export interface ReadFile {
  readonly path: string;
  readonly title: string;
  readonly slug: string;
  readonly content: string;
}

/**
 * Returns a function that tells whether an earlier import of a file stored a document. Links are compared by their text
 * and by the note where they lead. A number at the end of a slug makes no difference, because an import may add one.
 */
export function earlierImports(
  files: readonly ReadFile[],
  findInProject: FindNote,
): (file: ReadFile, document: ExistingDocument) => boolean {
  const slugs = new Set(files.map(({ slug }) => slug));
  const findNote = noteIndex(files);
  const withoutNumber = (slug: string) => {
    const stem = slug.replace(/-\d+$/, '');
    return !slugs.has(slug) && slugs.has(stem) ? stem : slug;
  };
  const findForFile = (target: string) => {
    const slug = findNote(target) ?? findInProject(target);
    return slug === undefined ? undefined : withoutNumber(slug);
  };
  const findForDocument = (target: string) => {
    const slug = withoutNumber(target);
    return slugs.has(slug) ? slug : undefined;
  };
  return (file, { title, content }) =>
    title === file.title &&
    (content === file.content ||
      expandNoteLinks(content, findForDocument) === expandNoteLinks(file.content, findForFile));
}
