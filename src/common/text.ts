const EDGE_WHITE_SPACE = /^[\p{White_Space}\uFEFF]+|[\p{White_Space}\uFEFF]+$/gu;

/** Removes Unicode white space (and a byte order mark) from both ends. */
export function trimUnicode(text: string): string {
  return text.replace(EDGE_WHITE_SPACE, '');
}

/** Whether PostgreSQL can store the text unchanged: no lone surrogates, no U+0000. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** Length as people count: code points, not UTF-16 units. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** What e-mail addresses are compared by: trimmed, and case does not count. */
export function emailKey(email: string): string {
  return trimUnicode(email).toLowerCase();
}
