const MAX_LENGTH = 2_000;
const WHOLE_NUMBERS = ['input_tokens', 'cached_input_tokens', 'output_tokens', 'total_tokens'];

/**
 * A record that the database has refused, with what it cannot store taken out of it: U+0000, halves of surrogate
 * pairs, texts that are too long for an index, counts that are none. Undefined when it is not even JSON.
 */
export function repaired(line: Buffer): Record<string, unknown> | undefined {
  let record: unknown;
  try {
    record = JSON.parse(line.toString(), (_, value: unknown) =>
      typeof value === 'string' ? storable(value) : value,
    );
  } catch {
    return undefined;
  }
  if (typeof record !== 'object' || record === null || Array.isArray(record)) return undefined;
  const fields = record as Record<string, unknown>;
  for (const name of WHOLE_NUMBERS) if (!Number.isSafeInteger(fields[name])) fields[name] = null;
  return fields;
}

function storable(text: string): string {
  return text.slice(0, MAX_LENGTH).toWellFormed().replaceAll('\0', '\uFFFD');
}
