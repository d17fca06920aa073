import { ANONYMOUS_BODY, MAX_CHUNKS, SESSION_BODY } from '../../src/common/body/body-bytes.js';
import { NAME_MAX_CODE_POINTS } from '../../src/common/body/fields.js';
import { MAX_PARAMETERS } from '../../src/common/body/form-body.js';
import { MATCHED_NAME_MAX, PATTERN_MAX } from '../../src/common/text/model-pattern.js';
import { DEFAULT_LIMIT, MAX_LIMIT, PAGE_BYTES } from '../../src/common/api/paging.js';
import { POLL_INTERVAL_SECONDS, SESSION_SECONDS } from '../../src/device-auth/flow/device-flow.js';
import {
  GUESSES_PER_NETWORK,
  GUESSES_PER_USER,
  GUESS_WINDOW_SECONDS,
} from '../../src/device-auth/flow/user-code-lookup.js';
import { DOCUMENTS_MAX } from '../../src/documents/store/documents.errors.js';
import { PIPELINE_LIMIT, REST_TIMEOUT_MS } from '../../src/http/server/connections.js';
import { HTTP_LIMITS } from '../../src/http/server/http-limits.js';
import {
  MAILS_PER_INVITATION,
  MAILS_PER_INVITER_AND_HOUR,
  MAILS_PER_ORGANIZATION_AND_HOUR,
} from '../../src/invitations/invitation-mail-limits.js';
import { CLOSED_MAX } from '../../src/invitations/invitation-rows.js';
import { PENDING_INVITATIONS_MAX } from '../../src/invitations/invitations.errors.js';
import { INACTIVE_MAX } from '../../src/keys/key-rows.js';
import { MODELS_MAX } from '../../src/limits/rules/limit-set.js';
import { PRICES_MAX } from '../../src/prices/parse-prices.js';
import { KEYS_MAX } from '../../src/keys/keys.errors.js';
import { FOUNDED_TEAMS_MAX, MEMBERS_MAX } from '../../src/organizations/model/organizations.errors.js';
import { DESCRIPTIONS_BYTES, PROJECTS_MAX } from '../../src/projects/projects.errors.js';
import { STORAGE_TIMEOUT_MS } from '../../src/storage/object-store.js';
import { RULES_MAX } from '../../src/upstreams/models/parse-model-rules.js';
import { MODEL_RULES_MAX_BYTES, UPSTREAMS_MAX } from '../../src/upstreams/upstreams.errors.js';
import {
  QUERIES_PER_OWNER,
  WAIT_TIMEOUT_MS,
  WAITING_PER_OWNER,
} from '../../src/usage/query/bounded-queries.js';
import { SHARE_OF_CONNECTIONS } from '../../src/usage/query/usage-database.js';
import { MAX_BUCKETS, MAX_GROUPS, MAX_VALUES } from '../../src/usage/query/usage.errors.js';
import { bytes, count, seconds } from './format.js';
import { PROXY_LIMITS } from './proxy-limits.js';

/** A limit that is not a setting. */
export interface Limit {
  readonly limit: string;
  readonly value: string;
  /** Behaviour beyond the limit. */
  readonly beyond: string;
}

const ANONYMOUS = 'a request without a session outside `/v1`, or of a form';

const REQUEST_LIMITS: readonly Limit[] = [
  {
    limit: 'body of a request with a session',
    value: bytes(SESSION_BODY.limitBytes),
    beyond: '400',
  },
  { limit: `body of ${ANONYMOUS}`, value: bytes(ANONYMOUS_BODY.limitBytes), beyond: '400' },
  {
    limit: `time until the body of ${ANONYMOUS} is complete`,
    value: seconds(ANONYMOUS_BODY.timeoutMs!),
    beyond: '408',
  },
  { limit: 'parameters of a form', value: count(MAX_PARAMETERS), beyond: '400' },
  { limit: 'chunks of a body outside `/v1`', value: count(MAX_CHUNKS), beyond: '400; the connection closes' },
  { limit: 'headers of a request', value: count(HTTP_LIMITS.headerCountLimit), beyond: '431' },
  {
    limit: 'time until the headers are complete',
    value: seconds(HTTP_LIMITS.headersTimeoutMs),
    beyond: '408',
  },
  {
    limit: 'time until the request is complete; the time of the response does not count',
    value: seconds(HTTP_LIMITS.bodyTimeoutMs),
    beyond: '408',
  },
  {
    limit: 'time that an idle connection is kept, above the 60 s of common load balancers',
    value: seconds(HTTP_LIMITS.keepAliveTimeoutMs),
    beyond: 'the connection closes',
  },
  {
    limit: 'time for which a client reads nothing of its response',
    value: seconds(HTTP_LIMITS.clientIdleTimeoutMs),
    beyond: 'the connection closes; the request to the upstream is cancelled',
  },
  {
    limit: 'requests of one connection that are read before their turn (pipelining)',
    value: count(PIPELINE_LIMIT),
    beyond: 'further ones are read as responses end',
  },
  {
    limit: 'time to finish sending a rejected body',
    value: seconds(REST_TIMEOUT_MS),
    beyond: 'the connection closes',
  },
];

const OBJECT_LIMITS: readonly Limit[] = [
  {
    limit: 'live keys (neither revoked nor expired) of a user in one organization',
    value: count(KEYS_MAX.ofUserInOrganization),
    beyond: '409 `too_many_keys`; the poll of a device gets `access_denied`',
  },
  { limit: 'live keys of a user', value: count(KEYS_MAX.ofUser), beyond: '409 `too_many_keys`' },
  {
    limit: 'live keys of an organization',
    value: count(KEYS_MAX.ofOrganization),
    beyond: '409 `too_many_keys`',
  },
  { limit: 'projects of an owner', value: count(PROJECTS_MAX), beyond: '409 `too_many_projects`' },
  {
    limit: 'descriptions of all projects of an owner',
    value: bytes(DESCRIPTIONS_BYTES),
    beyond: '409 `descriptions_too_long`',
  },
  { limit: 'documents of a project', value: count(DOCUMENTS_MAX), beyond: '409 `too_many_documents`' },
  {
    limit: 'existing teams that one user founded',
    value: count(FOUNDED_TEAMS_MAX),
    beyond: '409 `too_many_organizations`',
  },
  {
    limit: 'members of an organization',
    value: count(MEMBERS_MAX),
    beyond: '409 `too_many_members` on acceptance',
  },
  {
    limit: 'pending invitations of an organization',
    value: count(PENDING_INVITATIONS_MAX),
    beyond: '409 `too_many_invitations`',
  },
  { limit: 'upstreams of an owner', value: count(UPSTREAMS_MAX), beyond: '409 `too_many_upstreams`' },
  {
    limit: 'model rules of an upstream, and characters of a pattern or model name in them',
    value: `${count(RULES_MAX)}, ${count(PATTERN_MAX)}`,
    beyond: '400 `invalid_models`',
  },
  {
    limit: 'model rules of all upstreams of an owner, as JSON',
    value: bytes(MODEL_RULES_MAX_BYTES),
    beyond: '409 `models_too_long`',
  },
  {
    limit: 'characters of a model name that is compared with a pattern that has text between two stars',
    value: count(MATCHED_NAME_MAX),
    beyond: 'no pattern matches',
  },
  { limit: 'patterns of a models limit', value: count(MODELS_MAX), beyond: '400 `invalid_limits`' },
  { limit: 'own prices of an owner', value: count(PRICES_MAX), beyond: '400 `invalid_prices`' },
  {
    limit: 'names and titles, trimmed',
    value: `1 to ${count(NAME_MAX_CODE_POINTS)} code points`,
    beyond: '400',
  },
  {
    limit: 'revoked keys in a list, and expired keys in a list',
    value: `${count(INACTIVE_MAX)} each`,
    beyond: 'the latest are listed',
  },
  {
    limit: 'invitations in a list, pending ones not counted',
    value: count(CLOSED_MAX),
    beyond: 'the newest are listed',
  },
];

const RATE_LIMITS: readonly Limit[] = [
  {
    limit: 'mails of one invitation',
    value: `${count(MAILS_PER_INVITATION)}; one per minute`,
    beyond: '`email_delivery: "rate_limited"`',
  },
  {
    limit: 'invitation mails of an organization',
    value: `${count(MAILS_PER_ORGANIZATION_AND_HOUR)} per hour`,
    beyond: '`email_delivery: "rate_limited"`',
  },
  {
    limit: 'invitation mails of an inviter',
    value: `${count(MAILS_PER_INVITER_AND_HOUR)} per hour`,
    beyond: '`email_delivery: "rate_limited"`',
  },
  {
    limit: 'time to approve a device and collect its key',
    value: `${count(SESSION_SECONDS)} s`,
    beyond: '400 `expired_token`',
  },
  {
    limit: 'interval between polls of a device',
    value: `${count(POLL_INTERVAL_SECONDS)} s`,
    beyond: '429 `slow_down`',
  },
  {
    limit: 'wrong user codes of one user',
    value: `${count(GUESSES_PER_USER)} in ${count(GUESS_WINDOW_SECONDS)} s`,
    beyond: '429 `rate_limited`',
  },
  {
    limit: 'wrong user codes from one client address',
    value: `${count(GUESSES_PER_NETWORK)} in ${count(GUESS_WINDOW_SECONDS)} s`,
    beyond: '429 `rate_limited`',
  },
];

const QUERY_LIMITS: readonly Limit[] = [
  {
    limit: '`limit` of a page',
    value: `1 to ${count(MAX_LIMIT)}, default ${count(DEFAULT_LIMIT)}`,
    beyond: '400',
  },
  {
    limit: 'a page of usage or of the audit trail',
    value: bytes(PAGE_BYTES),
    beyond: 'the rest is on the next page',
  },
  { limit: 'buckets of a usage summary', value: count(MAX_BUCKETS), beyond: '400' },
  { limit: 'groups of a usage summary', value: count(MAX_GROUPS), beyond: '400' },
  { limit: 'values of one usage filter', value: count(MAX_VALUES), beyond: '400' },
  {
    limit: 'concurrent usage queries of one user or organization',
    value: `${count(QUERIES_PER_OWNER)}; ${count(WAITING_PER_OWNER)} more wait for ${seconds(WAIT_TIMEOUT_MS)}`,
    beyond: '429 `rate_limited`',
  },
  {
    limit: 'concurrent usage queries of a replica',
    value: `${count(SHARE_OF_CONNECTIONS * 100)} % of \`DATABASE_POOL_SIZE\``,
    beyond: 'queries wait; owners take turns',
  },
  { limit: 'a call to object storage', value: seconds(STORAGE_TIMEOUT_MS), beyond: '500' },
];

/** Sections of the page, in order. A new limit is one entry of one of them. */
export const LIMIT_GROUPS: readonly (readonly [title: string, readonly Limit[]])[] = [
  ['Requests', REQUEST_LIMITS],
  ['Objects', OBJECT_LIMITS],
  ['Mails and device flow', RATE_LIMITS],
  ['Queries', QUERY_LIMITS],
  ['Proxy', PROXY_LIMITS],
];
