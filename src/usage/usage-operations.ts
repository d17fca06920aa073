import { BadRequest } from '../common/domain-error.js';
import type { OperationDetails, ParameterSchemas } from '../common/operation.js';
import { PAGE_QUERY, PAGE_REFUSALS } from '../common/paging.js';
import { UsageRequestsResponse } from './dto/usage-requests.response.js';
import { UsageResponse } from './dto/usage.response.js';
import { BUCKETS, GROUPINGS } from './usage-query.js';

const SEVERAL = 'Several are given by repeating the parameter.';
const NUMBERS = { type: 'array', items: { type: 'integer' }, description: SEVERAL };
const NAMES = { type: 'array', items: { type: 'string' }, description: SEVERAL };

const SELECTION: ParameterSchemas = {
  from: {
    type: 'string',
    description: 'A date, or a time with a time zone; 30 days before `to` when left out.',
  },
  to: { type: 'string', description: 'Not in it any more; now when left out.' },
  ...{ model: NAMES, provider: NAMES, user: NAMES },
  ...{ upstream: NUMBERS, key: NUMBERS, status: NUMBERS },
};
const SUMMARY: ParameterSchemas = {
  bucket: { type: 'string', enum: BUCKETS, default: 'day', description: 'Of UTC.' },
  group_by: {
    ...{ type: 'array', items: { type: 'string', enum: GROUPINGS } },
    description: 'Several are given by repeating the parameter, or with commas.',
  },
};
const REFUSALS = [
  new BadRequest('from must be before to'),
  new BadRequest('from must be a date, or a time with a time zone, as ISO 8601'),
  new BadRequest(`bucket must be one of ${BUCKETS.join(', ')}`),
  new BadRequest(`group_by must be one of ${GROUPINGS.join(', ')}`),
];
const CSV = ['text/csv'];

/** What the OpenAPI document says of sums of usage, whoever's it is. */
export const SUMMARY_DETAILS: OperationDetails = {
  description: 'Buckets without requests are there, too. `Accept: text/csv` gives a table.',
  ...{ answers: UsageResponse, alsoAs: CSV },
  ...{ query: { ...SELECTION, ...SUMMARY }, refuses: REFUSALS },
};

/** And of single records. */
export const REQUESTS_DETAILS: OperationDetails = {
  description: 'Newest first, without what was asked or answered. `Accept: text/csv` gives a table.',
  ...{ answers: UsageRequestsResponse, alsoAs: CSV },
  ...{ query: { ...SELECTION, ...SUMMARY, ...PAGE_QUERY }, refuses: [...REFUSALS, ...PAGE_REFUSALS] },
};
