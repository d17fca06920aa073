import type { DocumentRow } from '../store/document-rows.js';

/** Characters that YAML 1.2 does not allow unescaped in a quoted text, beside those that JSON escapes (section 5.1). */
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;

/** YAML between `---` lines, to precede the text of a document. */
export function frontMatter({ title, created_at, updated_at }: DocumentRow): string {
  return [
    '---',
    `title: ${quote(title)}`,
    `created: ${created_at}`,
    `updated: ${updated_at}`,
    '---',
    '',
  ].join('\n');
}

/** A double-quoted YAML text. YAML 1.2 accepts every JSON text. */
function quote(text: string): string {
  return JSON.stringify(text).replace(UNPRINTABLE, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
