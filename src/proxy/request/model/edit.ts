/** Replacement of a range of bytes. */
export interface Edit {
  readonly start: number;
  /** Position after the last replaced byte. */
  readonly end: number;
  readonly text: string;
}

/** Copies a body with some ranges replaced. @param edits ranges that do not overlap, in any order */
export function applyEdits(body: Buffer, edits: readonly Edit[]): Buffer {
  const [only] = edits;
  if (only && edits.length === 1) return splice(body, only);
  const parts: Buffer[] = [];
  let at = 0;
  for (const { start, end, text } of edits.toSorted((a, b) => a.start - b.start)) {
    parts.push(body.subarray(at, start), Buffer.from(text));
    at = end;
  }
  return Buffer.concat([...parts, body.subarray(at)]);
}

function splice(body: Buffer, { start, end, text }: Edit): Buffer {
  const textEnd = start + Buffer.byteLength(text);
  const spliced = Buffer.allocUnsafe(textEnd + body.length - end);
  body.copy(spliced, 0, 0, start);
  spliced.write(text, start);
  body.copy(spliced, textEnd, end);
  return spliced;
}
