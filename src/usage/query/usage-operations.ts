import type { MemberSchema } from '../../common/api/members.js';
import type { OperationDetails, ParameterSchemas } from '../../common/api/operation.js';
import { PAGE_QUERY, PAGE_REJECTIONS } from '../../common/api/paging.js';
import { ID_MAX } from '../../common/api/path-id.js';
import { UsageRequestsResponse } from './dto/usage-requests.response.js';
import { UsageResponse } from './dto/usage.response.js';
import { USAGE_OUTCOMES } from '../record/usage-record.js';
import { requestsCsv, summaryCsv } from './usage-csv.js';
import { BUCKETS, GROUPINGS } from './usage-query.js';
import {
  EmptyRange,
  MAX_VALUES,
  NotATime,
  NotIds,
  NotNames,
  NotOneOf,
  NotStatuses,
  SearchTakesTooLong,
  SummaryTakesTooLong,
  TooManyBuckets,
  TooManyGroups,
  TooManyQueries,
  TooManyValues,
} from './usage.errors.js';

const REPEATABLE = 'Repeat the parameter for several values, with or without `[]` after its name.';
const filterOf = (items: MemberSchema) => ({
  type: 'array',
  items,
  maxItems: MAX_VALUES,
  description: REPEATABLE,
});
const IDS = filterOf({ type: 'integer', format: 'int64', minimum: 0, maximum: ID_MAX });
const STATUSES = filterOf({ type: 'integer', minimum: 100, maximum: 599 });
const NAMES = filterOf({ type: 'string', minLength: 1 });

const SELECTION: ParameterSchemas = {
  from: {
    type: 'string',
    description: 'A date, or a time with a time zone. Default: 30 days before `to`.',
  },
  to: { type: 'string', description: 'Exclusive. Default: the time of the request.' },
  model: NAMES,
  provider: NAMES,
  user: NAMES,
  upstream: IDS,
  key: IDS,
  status: STATUSES,
};
const SUMMARY: ParameterSchemas = {
  bucket: { type: 'string', enum: BUCKETS, default: 'day', description: 'In UTC.' },
  group_by: {
    type: 'array',
    items: { type: 'string', enum: GROUPINGS },
    description: `${REPEATABLE} Commas separate values, too.`,
  },
};
const OUTCOMES: ParameterSchemas = {
  outcome: {
    type: 'array',
    items: { type: 'string', enum: USAGE_OUTCOMES },
    description: `${REPEATABLE} Commas separate values, too.`,
  },
};
const SELECTION_REJECTIONS = [
  EmptyRange,
  new NotATime('from'),
  new NotIds('upstream'),
  new NotIds('key'),
  new NotStatuses('status'),
  new NotNames('model'),
  new TooManyValues('model'),
  TooManyQueries,
];
const OWNERS =
  '`/me/usage` covers all of your keys, personal and team; the address of an organization covers all of its keys. ';

export const SUMMARY_DETAILS: OperationDetails = {
  description:
    `${OWNERS}Includes buckets without requests. p50 and p95 come from histograms with steps of 4 %: they differ from ` +
    'the exact value by at most 2 %. `Accept: text/csv` returns a table with a row for each bucket, or each group of ' +
    'each bucket; `latency_ms.p50` is the column `latency_ms_p50`. An apostrophe precedes texts that a spreadsheet ' +
    'would evaluate.',
  response: UsageResponse,
  otherFormats: { 'text/csv': (summary: UsageResponse) => summaryCsv(summary, []) },
  optionalResponseHeaders: ['Content-Disposition'],
  query: { ...SELECTION, ...SUMMARY },
  rejects: [
    ...SELECTION_REJECTIONS,
    new NotOneOf('bucket', BUCKETS),
    new NotOneOf('group_by', GROUPINGS),
    TooManyBuckets,
    TooManyGroups,
    SummaryTakesTooLong,
  ],
};

export const REQUESTS_DETAILS: OperationDetails = {
  description:
    `${OWNERS}Newest first, without prompts and responses. \`Link\` also contains the address of the next page. ` +
    '`Accept: text/csv` returns a table.',
  response: UsageRequestsResponse,
  otherFormats: { 'text/csv': requestsCsv },
  optionalResponseHeaders: ['Content-Disposition', 'Link'],
  query: { ...SELECTION, ...OUTCOMES, ...PAGE_QUERY },
  rejects: [
    ...SELECTION_REJECTIONS,
    new NotOneOf('outcome', USAGE_OUTCOMES),
    ...PAGE_REJECTIONS,
    SearchTakesTooLong,
  ],
};
