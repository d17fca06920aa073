import {
  ApiMember,
  EMAIL,
  ID,
  instanceOf,
  object,
  oneOf,
  optional,
  text,
  USER_ID,
} from '../../../common/api/members.js';
import type { KeyHolding } from '../../../keys/key-holdings.js';
import { KEY_SOURCES } from '../../../keys/proxy-key.entity.js';
import type { KeySource } from '../../../keys/proxy-key.entity.js';
import { LimitsResponse } from '../../../limits/dto/limits.dto.js';
import { UsageResponse } from '../../../usage/query/dto/usage.response.js';

const ORGANIZATION_KINDS = ['personal', 'team'] as const;
const UNIX_TIME = { type: 'integer', format: 'int64', example: 1_769_851_800 };
const KEY = object({ id: ID, name: text('laptop'), prefix: text('mk_7Hq2'), last4: text('x9Qd') });
const ORGANIZATION = object({ id: ID, name: text('Acme'), kind: oneOf(ORGANIZATION_KINDS) });

/** RFC 7662, section 2.2, with members of mintkeep. */
export class IntrospectionResponse extends LimitsResponse {
  @ApiMember({ type: 'boolean', enum: [true], example: true })
  active: true;

  @ApiMember(EMAIL, 'Address of the holder.')
  username: string;

  @ApiMember(USER_ID, 'Id of the holder.')
  sub: string;

  @ApiMember(oneOf(KEY_SOURCES), 'Origin of the key.')
  client_id: KeySource;

  @ApiMember(oneOf(['Bearer']))
  token_type: 'Bearer';

  @ApiMember(UNIX_TIME, 'Creation of the key, as Unix time in seconds.')
  iat: number;

  @ApiMember(optional(UNIX_TIME), 'Expiry, as Unix time in seconds; absent if the key never expires.')
  exp?: number;

  @ApiMember(KEY)
  key: KeyHolding['key'];

  @ApiMember(ORGANIZATION, 'Owner whose upstreams the key gives access to.')
  organization: KeyHolding['organization'];

  @ApiMember(optional(instanceOf(UsageResponse)), 'Present if the request has `usage_days`.')
  usage?: UsageResponse;

  static from(
    { user, key, organization, ...holding }: KeyHolding,
    { limits, status }: LimitsResponse,
    usage?: UsageResponse,
  ): IntrospectionResponse {
    const { expiresAt } = holding;
    return {
      active: true,
      username: user.email,
      sub: user.id,
      client_id: holding.source,
      token_type: 'Bearer',
      iat: toUnixTime(holding.createdAt),
      ...(expiresAt !== null && { exp: toUnixTime(expiresAt) }),
      key,
      organization,
      limits,
      status,
      ...(usage && { usage }),
    };
  }
}

function toUnixTime(time: string): number {
  return Math.floor(Date.parse(time) / 1_000);
}
