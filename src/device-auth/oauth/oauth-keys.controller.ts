import { Controller, Header, Headers, HttpCode, HttpStatus, Post, UseFilters } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Public } from '../../auth/public.decorator.js';
import { bearerToken } from '../../common/api/bearer-token.js';
import { Operation } from '../../common/api/operation.js';
import { NotFound } from '../../common/api/domain-error.js';
import type { KeyHolding } from '../../keys/key-holdings.js';
import { KeyHoldings } from '../../keys/key-holdings.js';
import { KeyLimitsService } from '../../keys/key-limits.service.js';
import type { LimitsResponse } from '../../limits/dto/limits.dto.js';
import { UsageSummaryService } from '../../usage/query/usage-summary.service.js';
import { SummaryTakesTooLong, TooManyGroups, TooManyQueries } from '../../usage/query/usage.errors.js';
import { InvalidRequest } from '../flow/device-auth.errors.js';
import { DEVICE_FORM_REJECTIONS } from '../flow/device-form.js';
import { IntrospectionResponse } from './dto/introspection.response.js';
import { keyUsageQuery, parseUsageDays, USAGE_DAYS_MAX } from './key-usage-query.js';
import { InvalidToken, OAuthErrorFilter } from './oauth-error.filter.js';
import { OAuthForm } from './oauth-form.js';

const TOKEN = {
  type: 'string',
  example: 'mk_7Hq2vN0dK5sWb8xTzJ4mRcYfL1gPaE6uQoXi2a0Bc3Dx9Qd',
  description: 'The proxy key.',
};
const USAGE_DAYS = {
  type: 'integer',
  minimum: 1,
  maximum: USAGE_DAYS_MAX,
  description: 'Adds the usage of the key by day and model, for this many UTC calendar days, today included.',
};
const FORM_REJECTIONS = [...DEVICE_FORM_REJECTIONS, new InvalidRequest('token is required')];

/** Revocation (RFC 7009) and introspection (RFC 7662) of a key by its holder, who needs nothing but the key. */
@ApiTags('OAuth')
@Public() // the key is the credential
@UseFilters(OAuthErrorFilter)
@Controller('oauth')
export class OAuthKeysController {
  constructor(
    private readonly holdings: KeyHoldings,
    private readonly limits: KeyLimitsService,
    private readonly summaries: UsageSummaryService,
  ) {}

  @Operation('revokeToken', 'Revoke a key (RFC 7009)', {
    description:
      'Succeeds for an unknown, expired or revoked key, too. Afterwards no replica serves the key.',
    rejects: FORM_REJECTIONS,
    form: { token: TOKEN },
    requiredFormFields: ['token'],
  })
  @HttpCode(HttpStatus.OK)
  @Header('Cache-Control', 'no-store')
  @Post('revoke')
  revoke(@OAuthForm() form: URLSearchParams): Promise<void> {
    return this.holdings.revoke(requireToken(form));
  }

  @Operation('introspectToken', 'Show a key (RFC 7662)', {
    description: 'The key itself is the credential: send it as `Authorization: Bearer`, and as `token`.',
    response: IntrospectionResponse,
    rejects: [...FORM_REJECTIONS, InvalidToken, TooManyGroups, SummaryTakesTooLong, TooManyQueries],
    form: { token: TOKEN, usage_days: USAGE_DAYS },
    requiredFormFields: ['token'],
  })
  @HttpCode(HttpStatus.OK)
  @Header('Cache-Control', 'no-store')
  @Post('introspect')
  async introspect(
    @Headers('authorization') authorization: string | undefined,
    @OAuthForm() form: URLSearchParams,
  ): Promise<IntrospectionResponse> {
    const token = requireToken(form);
    const days = parseUsageDays(form.get('usage_days'));
    const holding = bearerToken(authorization) === token ? await this.holdings.find(token) : undefined;
    if (!holding) throw new InvalidToken();
    const limits = await this.limitsOf(holding);
    if (days === undefined) return IntrospectionResponse.from(holding, limits);
    const query = keyUsageQuery(holding.key.id, days, new Date());
    const usage = await this.summaries.summarize({ userId: holding.user.id }, query);
    return IntrospectionResponse.from(holding, limits, usage);
  }

  /** @throws InvalidToken when the key was deleted meanwhile, with its organization or user */
  private async limitsOf({ key, user }: KeyHolding): Promise<LimitsResponse> {
    try {
      return await this.limits.get(key.id, { userId: user.id });
    } catch (error) {
      throw error instanceof NotFound ? new InvalidToken() : error;
    }
  }
}

/** @throws InvalidRequest */
function requireToken(form: URLSearchParams): string {
  const token = form.get('token');
  if (token === null) throw new InvalidRequest('token is required');
  return token;
}
