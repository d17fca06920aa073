const TEXT = /\.(md|markdown|txt)$/i;
/** Folders and files that programs create beside notes. */
const OF_PROGRAMS = /(^|\/)(\.obsidian|\.git|__MACOSX|\.DS_Store|Thumbs\.db)(\/|$)/;
const HIDDEN = /(^|\/)\.[^/]/;

/** Whether a file belongs to a program, such as those in `.obsidian/`. It is not mentioned to the person. */
export function isIgnored(path: string): boolean {
  return OF_PROGRAMS.test(path);
}

/** Whether the name of the file or of one of its folders begins with a dot. */
export function isHidden(path: string): boolean {
  return HIDDEN.test(path);
}

/** Returns the reason why a file cannot become a document, as far as its path tells. */
export function rejectPath(path: string): string | undefined {
  if (isHidden(path)) return 'hidden: its name or the name of a folder begins with a dot';
  return TEXT.test(path) ? undefined : 'not a markdown or text file';
}

/** Whether a file can become a document, so that its bytes are needed. */
export function isImportable(path: string): boolean {
  return !isIgnored(path) && rejectPath(path) === undefined;
}

/** Path without the extension. */
export function fileStem(path: string): string {
  return path.replace(TEXT, '');
}
