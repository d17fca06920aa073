import { createParamDecorator } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { parseIsoTime } from '../../common/text/iso-time.js';
import { InvalidCursor, jsonBytes, parseLimit } from '../../common/api/paging.js';
import { prefersCsv } from './usage-formatter.js';
import { requestCsvBytes } from './usage-csv.js';
import type { UsageRecord } from '../record/usage-record.js';

/** Position of a record: by time, then by id. */
export type Position = Pick<UsageRecord, 'at' | 'id'>;

/** A page of records, newest first. */
export interface UsagePage {
  /** 1 to 200. */
  readonly limit: number;
  /** Position of the last record of the page before; undefined for the first page. */
  readonly after?: Position;
  /** Bytes of a record in the format of the response. */
  readonly bytesOf: (record: UsageRecord) => number;
}

const POSITION = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) ([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/;

/** The {@link UsagePage} from `?limit` and `?cursor`. @throws InvalidLimit @throws InvalidCursor */
export const UsagePageParameters = createParamDecorator(
  (_: unknown, context: ExecutionContext): UsagePage => {
    const request = context.switchToHttp().getRequest<Request>();
    const { limit, cursor } = request.query;
    const after = cursor === undefined ? undefined : parsePosition(cursor);
    return { limit: parseLimit(limit), after, bytesOf: prefersCsv(request) ? requestCsvBytes : jsonBytes };
  },
);

/** Creates a cursor, which is opaque to clients. */
export function cursorOf({ at, id }: Position): string {
  return Buffer.from(`${at} ${id}`).toString('base64url');
}

function parsePosition(cursor: unknown): Position {
  const text = typeof cursor === 'string' ? Buffer.from(cursor, 'base64url').toString() : '';
  const [, at = '', id = ''] = POSITION.exec(text) ?? [];
  if (!parseIsoTime(at)) throw new InvalidCursor();
  return { at, id };
}
