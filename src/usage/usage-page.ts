import { createParamDecorator } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { parseIsoTime } from '../common/iso-time.js';
import { parseLimit, WrongCursor } from '../common/paging.js';
import type { UsageRecord } from './usage-record.js';

/** A record's place: by time, then by id. */
export type Place = Pick<UsageRecord, 'at' | 'id'>;

/** A page of records, newest first. */
export interface UsagePage {
  /** 1 to 200. */
  readonly limit: number;
  /** Only what comes after this one; undefined for the first page. */
  readonly after?: Place;
}

const PLACE = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) ([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/;

/** The {@link UsagePage} that `?limit` and `?cursor` ask for. @throws WrongLimit @throws WrongCursor */
export const UsagePageParameters = createParamDecorator(
  (_: unknown, context: ExecutionContext): UsagePage => {
    const { limit, cursor } = context.switchToHttp().getRequest<Request>().query;
    return { limit: parseLimit(limit), after: cursor === undefined ? undefined : placeOf(cursor) };
  },
);

/** Opaque to clients. */
export function cursorOf({ at, id }: Place): string {
  return Buffer.from(`${at} ${id}`).toString('base64url');
}

function placeOf(cursor: unknown): Place {
  const text = typeof cursor === 'string' ? Buffer.from(cursor, 'base64url').toString() : '';
  const [, at = '', id = ''] = PLACE.exec(text) ?? [];
  if (!parseIsoTime(at)) throw new WrongCursor();
  return { at, id };
}
