import type { BodySpan } from './requested-model.js';

/** A field counts only if it ends within this part of a body. */
const SEARCHED_BYTES = 65_536;
const FORM_DATA = /^multipart\/form-data\b/i;
const BOUNDARY = /;\s*boundary=(?:"([^"]+)"|([^;\s]+))/i;
const DISPOSITION = /^content-disposition:\s*form-data\s*(;.*)$/im;
const NAME = /;\s*name=(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i;
const FILE = /;\s*filename\*?=/i;

/** Whether a body is a form (RFC 7578). */
export function isFormData(contentType: string | undefined): boolean {
  return FORM_DATA.test(contentType ?? '');
}

/** Finds the field `model` of a form (RFC 7578) that lies within the first 64 KiB and before any file. */
export function findFormModel(body: Buffer, contentType: string | undefined): BodySpan | undefined {
  for (const part of partsOf(body, contentType)) {
    if (part.isFile || part.end > SEARCHED_BYTES) return undefined;
    if (part.name === 'model') return { start: part.start, end: part.end };
  }
  return undefined;
}

/** Whether a form has more than one field `model`, at any place. Upstreams do not agree on which of them counts. */
export function hasSecondFormModel(body: Buffer, contentType: string | undefined): boolean {
  let count = 0;
  for (const { name } of partsOf(body, contentType)) if (name === 'model' && ++count > 1) return true;
  return false;
}

interface Part {
  readonly name: string | undefined;
  readonly isFile: boolean;
  /** Position of the value. */
  readonly start: number;
  readonly end: number;
}

function* partsOf(body: Buffer, contentType: string | undefined): Generator<Part> {
  const delimiter = findDelimiter(contentType);
  let at = delimiter ? findFirst(body, delimiter) : -1;
  while (delimiter && at >= 0 && body.toString('latin1', at, at + 2) === '\r\n') {
    const part = readPart(body, at, delimiter);
    if (!part) return;
    yield part;
    at = part.end + delimiter.length;
  }
}

/** @returns the line end and the boundary that separate the parts; undefined if this is no form */
function findDelimiter(contentType = ''): Buffer | undefined {
  const [, quoted, token = quoted] = BOUNDARY.exec(contentType) ?? [];
  return isFormData(contentType) && token !== undefined ? Buffer.from(`\r\n--${token}`, 'latin1') : undefined;
}

/** @param at position after a delimiter @returns undefined if the part has no end */
function readPart(body: Buffer, at: number, delimiter: Buffer): Part | undefined {
  const headersEnd = body.indexOf('\r\n\r\n', at);
  const start = headersEnd + 4;
  const end = headersEnd < 0 ? -1 : body.indexOf(delimiter, start);
  if (end < 0) return undefined;
  const [, parameters = ''] = DISPOSITION.exec(body.toString('latin1', at, headersEnd)) ?? [];
  const [, quoted, name = quoted] = NAME.exec(parameters) ?? [];
  return { name, isFile: FILE.test(parameters), start, end };
}

/** @returns position after the first delimiter; -1 if there is none */
function findFirst(body: Buffer, delimiter: Buffer): number {
  const atStart = delimiter.subarray(2);
  if (body.subarray(0, atStart.length).equals(atStart)) return atStart.length;
  const found = body.indexOf(delimiter); // behind a preamble
  return found < 0 ? -1 : found + delimiter.length;
}
