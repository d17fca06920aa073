import type { MemberSchema } from '../common/members.js';
import type { OperationDetails, ParameterSchemas } from '../common/operation.js';
import { PAGE_QUERY, PAGE_REFUSALS } from '../common/paging.js';
import { ID_MAX } from '../common/path-id.js';
import { UsageRequestsResponse } from './dto/usage-requests.response.js';
import { UsageResponse } from './dto/usage.response.js';
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
  TooManyValues,
} from './usage.errors.js';

const SEVERAL = 'Several are given by repeating the parameter, with or without `[]` after its name.';
const filterOf = (items: MemberSchema) => ({
  ...{ type: 'array', items, maxItems: MAX_VALUES },
  description: SEVERAL,
});
const IDS = filterOf({ type: 'integer', format: 'int64', minimum: 0, maximum: ID_MAX });
const STATUSES = filterOf({ type: 'integer', minimum: 100, maximum: 599 });
const NAMES = filterOf({ type: 'string', minLength: 1 });

const SELECTION: ParameterSchemas = {
  from: {
    type: 'string',
    description: 'A date, or a time with a time zone; 30 days before `to` when left out.',
  },
  to: { type: 'string', description: 'Not in it any more; now when left out.' },
  ...{ model: NAMES, provider: NAMES, user: NAMES },
  ...{ upstream: IDS, key: IDS, status: STATUSES },
};
const SUMMARY: ParameterSchemas = {
  bucket: { type: 'string', enum: BUCKETS, default: 'day', description: 'Of UTC.' },
  group_by: {
    ...{ type: 'array', items: { type: 'string', enum: GROUPINGS } },
    description: `${SEVERAL} Commas do, too.`,
  },
};
const REFUSALS = [
  EmptyRange,
  new NotATime('from'),
  ...[new NotIds('upstream'), new NotIds('key'), new NotStatuses('status'), new NotNames('model')],
  new TooManyValues('model'),
];
const SUMMARY_REFUSALS = [new NotOneOf('bucket', BUCKETS), new NotOneOf('group_by', GROUPINGS)];
const TOO_MUCH = [TooManyBuckets, TooManyGroups, SummaryTakesTooLong];
/** Of answers as CSV. */
const MAY_SET = ['Content-Disposition'];

/** What the OpenAPI document says of sums of usage, whoever's it is. */
export const SUMMARY_DETAILS: OperationDetails = {
  description:
    'Buckets without requests are there, too. p50 and p95 come from histograms whose steps grow by 4 %: they are at ' +
    'most 2 % from the exact value. `Accept: text/csv` gives a table with a row for each bucket, or each group of each ' +
    'bucket, `latency_ms.p50` as `latency_ms_p50`; texts that a spreadsheet would run begin with an apostrophe.',
  ...{ answers: UsageResponse, alsoAs: { 'text/csv': (answer: UsageResponse) => summaryCsv(answer, []) } },
  maySet: MAY_SET,
  ...{ query: { ...SELECTION, ...SUMMARY }, refuses: [...REFUSALS, ...SUMMARY_REFUSALS, ...TOO_MUCH] },
};

/** And of single records. */
export const REQUESTS_DETAILS: OperationDetails = {
  description:
    'Newest first, without what was asked or answered. The address of the next page is in `Link`, too. `Accept: ' +
    'text/csv` gives a table.',
  ...{ answers: UsageRequestsResponse, alsoAs: { 'text/csv': requestsCsv }, maySet: [...MAY_SET, 'Link'] },
  ...{
    query: { ...SELECTION, ...PAGE_QUERY },
    refuses: [...REFUSALS, ...PAGE_REFUSALS, SearchTakesTooLong],
  },
};
