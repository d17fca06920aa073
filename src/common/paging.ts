import { createParamDecorator } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { BadRequest } from './domain-error.js';
import type { ParameterSchemas } from './operation.js';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;
const LIMIT = /^[1-9]\d{0,2}$/;

/** Which page of something that grows without end, newest first. */
export interface PageRequest {
  /** 1 to 200. */
  readonly limit: number;
  /** Only what has a smaller id; undefined for the first page. */
  readonly before?: number;
}

/** Rows of a page and where the next one begins. */
export interface Paged<T> {
  readonly rows: T[];
  /** Opaque; null on the last page. */
  readonly nextCursor: string | null;
}

/** What the OpenAPI document says of {@link PageQuery}. */
export const PAGE_QUERY: ParameterSchemas = {
  limit: {
    ...{ type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT },
    description: 'How many at most.',
  },
  cursor: { type: 'string', description: '`next_cursor` of the page before.' },
};

class WrongLimit extends BadRequest {
  constructor() {
    super(`limit must be an integer from 1 to ${MAX_LIMIT}`);
  }
}

export class WrongCursor extends BadRequest {
  constructor() {
    super('cursor is not one of ours');
  }
}

export const PAGE_REFUSALS = [WrongLimit, WrongCursor];

/** The {@link PageRequest} that `?limit` and `?cursor` ask for. @throws WrongLimit @throws WrongCursor */
export const PageQuery = createParamDecorator((_: unknown, context: ExecutionContext): PageRequest => {
  const { limit, cursor } = context.switchToHttp().getRequest<Request>().query;
  return { limit: parseLimit(limit), before: cursor === undefined ? undefined : parseCursor(cursor) };
});

/** Makes a page of up to `limit + 1` rows: the one too many tells that there is more. */
export function toPage<T extends { id: number }>(rows: T[], limit: number): Paged<T> {
  const page = rows.slice(0, limit);
  return { rows: page, nextCursor: rows.length > limit ? toCursor(page.at(-1)!.id) : null };
}

/** @throws WrongLimit */
export function parseLimit(limit: unknown): number {
  if (limit === undefined) return DEFAULT_LIMIT;
  const value = typeof limit === 'string' && LIMIT.test(limit) ? Number(limit) : NaN;
  if (!(value <= MAX_LIMIT)) throw new WrongLimit();
  return value;
}

function toCursor(id: number): string {
  return Buffer.from(String(id)).toString('base64url');
}

function parseCursor(cursor: unknown): number {
  const text = typeof cursor === 'string' ? Buffer.from(cursor, 'base64url').toString() : '';
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new WrongCursor();
  return Number(text);
}
