const TEXT = /\.(md|markdown|txt)$/i;
/** Folders and files of programs, which are no notes. */
const IGNORED = /(^|\/)(\.[^/]+|__MACOSX|Thumbs\.db)(\/|$)/;

export function isText(path: string): boolean {
  return TEXT.test(path);
}

/** Whether a file belongs to a program, such as those in `.obsidian/`. */
export function isIgnored(path: string): boolean {
  return IGNORED.test(path);
}

/** Path without the extension. */
export function fileStem(path: string): string {
  return path.replace(TEXT, '');
}
