import { createParamDecorator } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { BadRequest } from '../../common/api/domain-error.js';
import { parseIsoTime } from '../../common/text/iso-time.js';
import { ID } from '../../common/api/path-id.js';
import { isStorableText } from '../../common/text/text.js';
import { USAGE_OUTCOMES } from '../record/usage-record.js';
import type { UsageOutcome } from '../record/usage-record.js';
import {
  EmptyRange,
  MAX_VALUES,
  NotATime,
  NotIds,
  NotNames,
  NotOneOf,
  NotStatuses,
  TooManyValues,
} from './usage.errors.js';

export const BUCKETS = ['hour', 'day', 'month'] as const;
export type Bucket = (typeof BUCKETS)[number];

export const GROUPINGS = ['model', 'provider', 'upstream', 'key', 'user', 'status'] as const;
/** Property that usage is grouped and filtered by. */
export type Grouping = (typeof GROUPINGS)[number];

/** Exclusive limit, because the last bucket must not end in a year with five digits. */
const LAST_YEAR = 9999;
const DEFAULT_RANGE_MS = 30 * 24 * 3_600_000;
const STATUS = /^[1-5]\d\d$/;

/** Accepted values by filter. A record must match every filter that is present. */
export type UsageFilters = Partial<Record<Grouping, string[]>>;

/** Selection of records. */
interface UsageSelection {
  readonly from: Date;
  /** Exclusive. */
  readonly to: Date;
  readonly filters: UsageFilters;
}

/** Selection of records for the list of requests. Sums do not know outcomes. */
export interface RequestSelection extends UsageSelection {
  /** Accepted outcomes; all if it is empty. */
  readonly outcomes: readonly UsageOutcome[];
}

/** Query for sums of the selected records. */
export interface UsageQuery extends UsageSelection {
  readonly bucket: Bucket;
  readonly groupBy: readonly Grouping[];
  /** Time of the request. */
  readonly now: Date;
}

type Parameters = Request['query'];

/** The {@link UsageQuery} in the parameters of the request. @throws BadRequest */
export const UsageParameters = createParamDecorator((_: unknown, context: ExecutionContext) =>
  parseUsageQuery(context.switchToHttp().getRequest<Request>().query, new Date()),
);

/** The {@link RequestSelection} in the parameters of the request. @throws BadRequest */
export const SelectionParameters = createParamDecorator((_: unknown, context: ExecutionContext) =>
  parseRequestSelection(context.switchToHttp().getRequest<Request>().query, new Date()),
);

/** @throws BadRequest */
export function parseUsageQuery(parameters: Parameters, now: Date): UsageQuery {
  return {
    ...parseSelection(parameters, now),
    bucket: oneOf('bucket', single('bucket', parameters) ?? 'day', BUCKETS),
    groupBy: [...new Set(list('group_by', parameters).map((name) => oneOf('group_by', name, GROUPINGS)))],
    now,
  };
}

/** @throws BadRequest */
function parseRequestSelection(parameters: Parameters, now: Date): RequestSelection {
  const outcomes = list('outcome', parameters).map((name) => oneOf('outcome', name, USAGE_OUTCOMES));
  return { ...parseSelection(parameters, now), outcomes: [...new Set(outcomes)] };
}

function parseSelection(parameters: Parameters, now: Date): UsageSelection {
  return { ...parseRange(parameters, now), filters: parseFilters(parameters) };
}

function parseRange(parameters: Parameters, now: Date): { from: Date; to: Date } {
  const to = parseTime('to', parameters) ?? now;
  const from = parseTime('from', parameters) ?? new Date(to.getTime() - DEFAULT_RANGE_MS);
  if (from >= to) throw new EmptyRange();
  return { from, to };
}

function parseTime(name: string, parameters: Parameters): Date | undefined {
  const text = single(name, parameters)?.replace(' ', '+'); // a plus sign that was not encoded
  if (text === undefined) return undefined;
  const time = parseIsoTime(text);
  const year = time?.getUTCFullYear() ?? NaN;
  if (year >= 1970 && year < LAST_YEAR) return time;
  throw new NotATime(name);
}

function parseFilters(parameters: Parameters): UsageFilters {
  const filters: UsageFilters = {};
  for (const name of GROUPINGS) {
    const values = FILTERS[name](name, parameters);
    if (values.length > MAX_VALUES) throw new TooManyValues(name);
    if (values.length > 0) filters[name] = values;
  }
  return filters;
}

/** Parsers by filter. Names may contain commas; only numbers may be separated by them. */
const FILTERS: Record<Grouping, (name: string, parameters: Parameters) => string[]> = {
  model: names,
  provider: names,
  user: names,
  upstream: (name, parameters) => matching(name, parameters, ID, NotIds),
  key: (name, parameters) => matching(name, parameters, ID, NotIds),
  status: (name, parameters) => matching(name, parameters, STATUS, NotStatuses),
};

function names(name: string, parameters: Parameters): string[] {
  const values = all(name, parameters);
  if (!values.every((value) => value !== '' && isStorableText(value))) throw new NotNames(name);
  return values;
}

function matching(name: string, parameters: Parameters, pattern: RegExp, Rejection: typeof NotIds): string[] {
  const values = list(name, parameters);
  if (!values.every((value) => pattern.test(value))) throw new Rejection(name);
  return values;
}

/** Values that are repeated or separated by commas. */
function list(name: string, parameters: Parameters): string[] {
  return all(name, parameters).flatMap((text) => text.split(','));
}

/** Values of a repeated parameter. Many clients, such as axios, append brackets to its name. */
function all(name: string, parameters: Parameters): string[] {
  const values: unknown[] = [parameters[name] ?? [], parameters[`${name}[]`] ?? []].flat();
  if (values.every((each) => typeof each === 'string')) return values;
  throw new BadRequest(`${name} must be text`);
}

function single(name: string, parameters: Parameters): string | undefined {
  const [first, ...rest] = all(name, parameters);
  if (rest.length > 0) throw new BadRequest(`${name} must not be repeated`);
  return first;
}

function oneOf<T extends string>(name: string, value: string, values: readonly T[]): T {
  const found = values.find((each) => each === value);
  if (found === undefined) throw new NotOneOf(name, values);
  return found;
}
