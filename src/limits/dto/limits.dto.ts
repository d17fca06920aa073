import { About, Optional } from '../../common/body/fields.js';
import {
  ApiMember,
  COUNT,
  FLAG,
  instanceOf,
  object,
  oneOf,
  orNull,
  SUM,
  TIME,
} from '../../common/api/members.js';
import { nestedField } from '../../common/body/nested-field.js';
import { PATTERN_MAX } from '../../common/text/model-pattern.js';
import {
  BUDGET_MAX_USD,
  MEMBERS,
  MODELS_MAX,
  NO_LIMITS,
  parseLimitSet,
  PERIODS,
  REQUESTS_PER_MINUTE_MAX,
  TOKENS_PER_MINUTE_MAX,
} from '../rules/limit-set.js';
import type { Budget, LimitSet } from '../rules/limit-set.js';

const REQUESTS = {
  type: 'integer',
  minimum: 1,
  maximum: REQUESTS_PER_MINUTE_MAX,
  nullable: true,
  example: 600,
};
const TOKENS = {
  type: 'integer',
  minimum: 1,
  maximum: TOKENS_PER_MINUTE_MAX,
  nullable: true,
  example: 200_000,
};
const BUDGET = {
  ...object({
    usd: { type: 'number', exclusiveMinimum: 0, maximum: BUDGET_MAX_USD, example: 50 },
    period: oneOf(PERIODS),
  }),
  nullable: true,
  example: { usd: 50, period: 'month' },
};
const PATTERN = { type: 'string', minLength: 1, maxLength: PATTERN_MAX, example: 'gpt-5-*' };
const MODELS = {
  type: 'array',
  items: PATTERN,
  minItems: 1,
  maxItems: MODELS_MAX,
  nullable: true,
  example: ['gpt-5-*'],
};
const LIMIT_SET = {
  type: 'object',
  properties: { requests_per_minute: REQUESTS, tokens_per_minute: TOKENS, budget: BUDGET, models: MODELS },
};
const TYPE = 'invalid_limits';

/** A limit set as a member of another body. */
export function LimitSetField(): PropertyDecorator {
  return nestedField(
    { parse: parseLimitSet, schema: { ...LIMIT_SET, nullable: true, required: false } },
    TYPE,
  );
}

/** A limit set as a body. */
export class ReplaceKeyLimitsDto {
  @About('Null or absent for no limit.')
  @Optional()
  @nestedField({ parse: MEMBERS.requests_per_minute, schema: { ...REQUESTS, required: false } }, TYPE)
  requests_per_minute?: number;

  @About('Input and output tokens. Null or absent for no limit.')
  @Optional()
  @nestedField({ parse: MEMBERS.tokens_per_minute, schema: { ...TOKENS, required: false } }, TYPE)
  tokens_per_minute?: number;

  @About('Costs of a calendar period in UTC. Weeks begin on Monday. Null or absent for no limit.')
  @Optional()
  @nestedField({ parse: MEMBERS.budget, schema: { ...BUDGET, selfRequired: false } }, TYPE)
  budget?: Budget;

  @About(
    'Patterns of the models that may be used; `*` matches any characters. Null or absent for all models.',
  )
  @Optional()
  @nestedField({ parse: MEMBERS.models, schema: { ...MODELS, required: false } }, TYPE)
  models?: readonly string[];
}

/** Fills absent limits with null: no limit. */
export function toLimitSet(dto: ReplaceKeyLimitsDto): LimitSet {
  return { ...NO_LIMITS, ...dto };
}

/** Limit sets of an organization and of each member as a body. An absent set means no limits. */
export class ReplaceLimitsDto {
  @About('Limits of all keys of the organization together.')
  @Optional()
  @LimitSetField()
  organization?: LimitSet;

  @About('Limits of all keys of one member together; they apply to every member.')
  @Optional()
  @LimitSetField()
  member?: LimitSet;
}

/** Limit set with all members; null for no limit. */
class LimitSetResponse implements LimitSet {
  @ApiMember(REQUESTS)
  requests_per_minute: number | null;

  @ApiMember(TOKENS)
  tokens_per_minute: number | null;

  @ApiMember(BUDGET)
  budget: Budget | null;

  @ApiMember(MODELS)
  models: readonly string[] | null;
}

const USD = { type: 'number', minimum: 0, example: 12.5 };

/** Use of a budget in the current period; times in ISO 8601, UTC, or null for the period `total`. */
export interface BudgetStatus {
  readonly spent_usd: number;
  readonly remaining_usd: number;
  readonly period_start: string | null;
  readonly period_end: string | null;
  readonly is_exceeded: boolean;
}

/** Consumption that limits are compared with. */
export class LimitStatusResponse {
  @ApiMember(COUNT, 'Admitted requests of the last 60 s.')
  requests_last_minute: number;

  @ApiMember(SUM, 'Tokens of requests that ended in the last 60 s.')
  tokens_last_minute: number;

  @ApiMember(
    orNull(
      object({
        spent_usd: USD,
        remaining_usd: USD,
        period_start: orNull(TIME),
        period_end: orNull(TIME),
        is_exceeded: FLAG,
      }),
    ),
    'Null without a budget. The times are null for the period `total`.',
  )
  budget: BudgetStatus | null;
}

/** Limit sets of an organization with its consumption. */
export class OrganizationLimitsResponse {
  @ApiMember(instanceOf(LimitSetResponse), 'All keys of the organization together.')
  organization: LimitSet;

  @ApiMember(instanceOf(LimitSetResponse), 'All keys of one member together; applies to every member.')
  member: LimitSet;

  @ApiMember(instanceOf(LimitStatusResponse), 'Consumption of the organization.')
  status: LimitStatusResponse;
}

/** Limit set of one key or one member with its consumption. */
export class LimitsResponse {
  @ApiMember(instanceOf(LimitSetResponse))
  limits: LimitSet;

  @ApiMember(instanceOf(LimitStatusResponse))
  status: LimitStatusResponse;
}
