import { Controller, Get, Header, HttpCode, HttpStatus, Post, Req, UseFilters } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import { Public } from '../auth/public.decorator.js';
import { BodyTooLarge } from '../common/body-bytes.js';
import { UnsupportedEncoding } from '../common/domain-error.js';
import { Operation } from '../common/operation.js';
import { toShownName } from '../common/shown-name.js';
import { Settings } from '../config/settings.js';
import { clientAddress } from './client-address.js';
import {
  AccessDenied,
  AuthorizationPending,
  ExpiredToken,
  InvalidRequest,
  RateLimited,
  SlowDown,
  UnknownDeviceCode,
} from './device-auth.errors.js';
import { HOSTNAME_MAX_LENGTH, NAME_MAX_LENGTH } from './device-flow.js';
import { DevicePollingService } from './device-polling.service.js';
import { DeviceSessionsService } from './device-sessions.service.js';
import { DeviceCodeResponse } from './dto/device-code.response.js';
import { OAuthMetadataResponse, OAuthTokenResponse } from './dto/oauth.response.js';
import { OAuthErrorFilter } from './oauth-error.filter.js';
import { OAuthForm } from './oauth-form.js';
import { METADATA_PATH } from './oauth-metadata-path.js';
import { UnsupportedGrantType } from './oauth.errors.js';

const DEVICE_CODE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

const NOT_A_FORM = new InvalidRequest('the body must be application/x-www-form-urlencoded');
const FORM_REFUSALS = [NOT_A_FORM, BodyTooLarge, UnsupportedEncoding];
const POLL_REFUSALS = [
  ...[AuthorizationPending, SlowDown, AccessDenied, ExpiredToken],
  ...[UnknownDeviceCode, UnsupportedGrantType],
];
const DEVICE_FORM = {
  client_id: { type: 'string', example: 'mint CLI', description: 'The tool, where there is no `name`.' },
  name: { type: 'string', description: 'The tool, for the person who approves.' },
  hostname: { type: 'string', example: 'adas-laptop', description: 'The machine.' },
};
const TOKEN_FORM = {
  grant_type: { type: 'string', enum: [DEVICE_CODE_GRANT], example: DEVICE_CODE_GRANT },
  device_code: { type: 'string', example: '{device_code}' },
};

/**
 * The device flow as RFC 8628 has it, for clients that know it from there. Clients are not registered: their
 * `client_id` is a name like any other.
 */
@ApiTags('OAuth')
@Public() // the device has no session: its code is the credential
@UseFilters(OAuthErrorFilter)
@Controller()
export class OAuthController {
  constructor(
    private readonly sessions: DeviceSessionsService,
    private readonly polling: DevicePollingService,
    private readonly settings: Settings,
  ) {}

  @Operation('beginDeviceAuthorization', 'Begin the device flow as RFC 8628 has it', {
    answers: DeviceCodeResponse,
    refuses: [...FORM_REFUSALS, new RateLimited(60)],
    form: DEVICE_FORM,
  })
  @HttpCode(HttpStatus.OK)
  @Header('Cache-Control', 'no-store')
  @Post('oauth/device_authorization')
  begin(@Req() request: Request, @OAuthForm() form: URLSearchParams): Promise<DeviceCodeResponse> {
    const name = toShownName(form.get('name') ?? form.get('client_id') ?? '', NAME_MAX_LENGTH);
    const hostname = toShownName(form.get('hostname') ?? '', HOSTNAME_MAX_LENGTH);
    return this.sessions.begin({ name, hostname }, clientAddress(request));
  }

  @Operation('requestToken', 'Poll for the key as RFC 8628 has it', {
    answers: OAuthTokenResponse,
    refuses: [...FORM_REFUSALS, ...POLL_REFUSALS],
    form: TOKEN_FORM,
    formRequires: Object.keys(TOKEN_FORM),
  })
  @HttpCode(HttpStatus.OK)
  @Header('Cache-Control', 'no-store')
  @Header('Pragma', 'no-cache') // RFC 6749, section 5.1
  @Post('oauth/token')
  async poll(@Req() request: Request, @OAuthForm() form: URLSearchParams): Promise<OAuthTokenResponse> {
    const grantType = form.get('grant_type');
    if (grantType === null) throw new InvalidRequest('grant_type is missing');
    if (grantType !== DEVICE_CODE_GRANT) throw new UnsupportedGrantType();
    const deviceCode = form.get('device_code');
    if (deviceCode === null) throw new InvalidRequest('device_code is missing');
    const { api_key } = await this.polling.poll(deviceCode, {
      isGone: () => request.socket.destroyed,
      mayBeRepeated: isBasic(request),
    });
    return { access_token: api_key, token_type: 'Bearer' };
  }

  @Operation('getOAuthMetadata', 'Find the endpoints as RFC 8414 has it', { answers: OAuthMetadataResponse })
  @Get(METADATA_PATH)
  metadata(): OAuthMetadataResponse {
    const { publicUrl } = this.settings;
    return {
      issuer: publicUrl,
      device_authorization_endpoint: `${publicUrl}/oauth/device_authorization`,
      token_endpoint: `${publicUrl}/oauth/token`,
      grant_types_supported: [DEVICE_CODE_GRANT],
      response_types_supported: [],
      token_endpoint_auth_methods_supported: ['none'],
      service_documentation: `${publicUrl}/docs`,
    };
  }
}

/**
 * Clients need no credentials, and those that they send in this header are not looked at. But Go's x/oauth2 finds out
 * how to send them by trying: each poll with the header and, after any error, at once again without. The answer to that
 * is what counts for it: were it always too early, the pause before the next would be 5 s longer each time. Those
 * that always send the header, as requests-oauthlib does, are answered like all others.
 */
function isBasic({ headers }: Request): boolean {
  return /^basic\s/i.test(headers.authorization ?? '');
}
