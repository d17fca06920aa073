import { storableText } from '../common/text.js';
import { COLUMN_NAMES, FREE_TEXTS, TOKENS } from './record-columns.js';
import { NULL, textField } from './record-line.js';

const MAX_LENGTH = 2_000;

/**
 * The line of a record that the database has refused, with what it cannot store taken out of it: U+0000, halves of
 * surrogate pairs, texts that are too long for an index, counts that are none. Undefined when it is no such line.
 */
export function repaired(line: Buffer): string | undefined {
  const fields = line.toString().split('\t');
  if (fields.length !== COLUMN_NAMES.length) return undefined;
  try {
    return fields.map((field, i) => repairedField(COLUMN_NAMES[i]!, field)).join('\t');
  } catch {
    return undefined;
  }
}

function repairedField(column: string, field: string): string {
  if (field === NULL) return field;
  if (TOKENS.includes(column)) return isCount(field) ? field : NULL;
  return FREE_TEXTS.includes(column) ? textField(storableText(unescaped(field), MAX_LENGTH)) : field;
}

function isCount(field: string): boolean {
  return String(Number(field)) === field && Number.isSafeInteger(Number(field));
}

/** @throws SyntaxError when it holds a backslash, but not as JSON does */
function unescaped(field: string): string {
  return field.includes('\\') ? (JSON.parse(`"${field}"`) as string) : field;
}
