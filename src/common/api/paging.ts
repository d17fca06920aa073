import { createParamDecorator } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { BadRequest } from './domain-error.js';
import type { ParameterSchemas } from './operation.js';

/** Maximum size of a page of a list, as JSON or as CSV. */
export const PAGE_BYTES = 4 * 1024 * 1024;
/** Part of a page outside its entries: names of members or columns, and the cursor. */
const ENVELOPE_BYTES = 4 * 1024;
export const DEFAULT_LIMIT = 50;
export const MAX_LIMIT = 200;
const LIMIT = /^[1-9]\d{0,2}$/;

/** Selects one page of a list that is sorted from new to old. */
export interface PageRequest {
  /** 1 to 200. */
  readonly limit: number;
  /** Exclusive upper bound of the ids; undefined for the first page. */
  readonly before?: number;
}

/** Rows of a page, and the cursor of the next page. */
export interface Paged<T> {
  readonly rows: T[];
  /** Opaque; null on the last page. */
  readonly nextCursor: string | null;
}

/** Parameters of {@link PageQuery} for the OpenAPI document. */
export const PAGE_QUERY: ParameterSchemas = {
  limit: {
    type: 'integer',
    minimum: 1,
    maximum: MAX_LIMIT,
    default: DEFAULT_LIMIT,
    description: 'Maximum number of entries. A page has fewer if they would exceed 4 MiB.',
  },
  cursor: { type: 'string', description: '`next_cursor` of the previous page.' },
};

class InvalidLimit extends BadRequest {
  constructor() {
    super(`limit must be an integer from 1 to ${MAX_LIMIT}`);
  }
}

export class InvalidCursor extends BadRequest {
  constructor() {
    super('invalid cursor: expected the next_cursor of the previous page');
  }
}

export const PAGE_REJECTIONS = [InvalidLimit, InvalidCursor];

/** The {@link PageRequest} that `?limit` and `?cursor` ask for. @throws InvalidLimit @throws InvalidCursor */
export const PageQuery = createParamDecorator((_: unknown, context: ExecutionContext): PageRequest => {
  const { limit, cursor } = context.switchToHttp().getRequest<Request>().query;
  return { limit: parseLimit(limit), before: cursor === undefined ? undefined : parseCursor(cursor) };
});

/**
 * Cuts a page to at most `limit` rows and {@link PAGE_BYTES}.
 * @param rows each with the number of found rows, which is greater than the size of the page if there is a next one
 */
export function toPage<T extends object>(
  rows: readonly (T & { readonly found: number })[],
  limit: number,
  bytesOf: (row: T) => number,
  cursorOf: (row: T) => string,
): Paged<T> {
  const shown = rows.slice(0, limit).map(({ found: _, ...row }) => row as unknown as T);
  const page = fittingEntries(shown, bytesOf);
  const hasMore = page.length < (rows[0]?.found ?? 0);
  return { rows: page, nextCursor: hasMore ? cursorOf(page.at(-1)!) : null };
}

/** @throws InvalidLimit */
export function parseLimit(limit: unknown): number {
  if (limit === undefined) return DEFAULT_LIMIT;
  const value = typeof limit === 'string' && LIMIT.test(limit) ? Number(limit) : NaN;
  if (!(value <= MAX_LIMIT)) throw new InvalidLimit();
  return value;
}

/** Encodes the id as a cursor, which is opaque to clients. */
export function toCursor({ id }: { readonly id: number }): string {
  return Buffer.from(String(id)).toString('base64url');
}

function parseCursor(cursor: unknown): number {
  const text = typeof cursor === 'string' ? Buffer.from(cursor, 'base64url').toString() : '';
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidCursor();
  return Number(text);
}

/** Size of an entry as JSON, including its comma. */
export function jsonBytes(entry: object): number {
  return Buffer.byteLength(JSON.stringify(entry)) + 1;
}

/** Takes the first entries that fit into a page together; at least one, even if it is larger. */
export function fittingEntries<T>(entries: readonly T[], bytesOf: (entry: T) => number): T[] {
  let bytes = ENVELOPE_BYTES;
  const end = entries.findIndex((entry, i) => (bytes += bytesOf(entry)) > PAGE_BYTES && i > 0);
  return entries.slice(0, end === -1 ? undefined : end);
}
