import {
  Controller,
  Get,
  Header,
  HttpCode,
  HttpStatus,
  Post,
  Req,
  UseFilters,
  UseGuards,
} from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import { Public } from '../../auth/public.decorator.js';
import { Operation } from '../../common/api/operation.js';
import { toDisplayName } from '../../common/text/display-name.js';
import { Settings } from '../../config/settings.js';
import { clientAddress } from '../flow/client-address.js';
import {
  AccessDenied,
  AuthorizationPending,
  ExpiredToken,
  InvalidRequest,
  RateLimited,
  SlowDown,
  UnknownDeviceCode,
} from '../flow/device-auth.errors.js';
import { DeviceCodeLimitGuard } from '../api/device-code-limit.guard.js';
import { HOSTNAME_MAX_LENGTH, NAME_MAX_LENGTH } from '../flow/device-flow.js';
import { DEVICE_FORM_REJECTIONS } from '../flow/device-form.js';
import { DevicePollingService } from '../flow/device-polling.service.js';
import { DeviceSessionsService } from '../flow/device-sessions.service.js';
import { DeviceCodeResponse } from '../flow/dto/device-code.response.js';
import { OAuthMetadataResponse, OAuthTokenResponse } from './dto/oauth.response.js';
import { OAuthForm } from './oauth-form.js';
import { OAuthErrorFilter, UnsupportedGrantType } from './oauth-error.filter.js';
import { METADATA_PATH } from './oauth-metadata-path.js';

const DEVICE_CODE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

const POLL_REJECTIONS = [
  AuthorizationPending,
  SlowDown,
  AccessDenied,
  ExpiredToken,
  UnknownDeviceCode,
  new UnsupportedGrantType(DEVICE_CODE_GRANT),
];
const DEVICE_FORM = {
  client_id: { type: 'string', example: 'mint CLI', description: 'Name of the tool, if `name` is absent.' },
  name: { type: 'string', description: 'Name of the tool, shown to the person who approves.' },
  hostname: { type: 'string', example: 'adas-laptop', description: 'Name of the machine.' },
};
const TOKEN_FORM = {
  grant_type: { type: 'string', enum: [DEVICE_CODE_GRANT], example: DEVICE_CODE_GRANT },
  device_code: { type: 'string', example: '{device_code}' },
};

/**
 * The device flow of RFC 8628, for OAuth clients. Clients are not registered: `client_id` is only a name to show.
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

  @Operation('beginDeviceAuthorization', 'Begin the device flow (RFC 8628)', {
    description: 'Any `client_id` is accepted. `scope` is ignored.',
    response: DeviceCodeResponse,
    rejects: [...DEVICE_FORM_REJECTIONS, new RateLimited(60)],
    form: DEVICE_FORM,
  })
  @HttpCode(HttpStatus.OK)
  @Header('Cache-Control', 'no-store')
  @UseGuards(DeviceCodeLimitGuard)
  @Post('oauth/device_authorization')
  begin(@Req() request: Request, @OAuthForm() form: URLSearchParams): Promise<DeviceCodeResponse> {
    const name = toDisplayName(form.get('name') ?? form.get('client_id') ?? '', NAME_MAX_LENGTH);
    const hostname = toDisplayName(form.get('hostname') ?? '', HOSTNAME_MAX_LENGTH);
    return this.sessions.begin({ name, hostname }, clientAddress(request));
  }

  @Operation('requestToken', 'Poll for the key (RFC 8628)', {
    description: 'The first request after the approval returns the key. No later request does.',
    response: OAuthTokenResponse,
    rejects: [...DEVICE_FORM_REJECTIONS, ...POLL_REJECTIONS],
    form: TOKEN_FORM,
    requiredFormFields: Object.keys(TOKEN_FORM),
  })
  @HttpCode(HttpStatus.OK)
  @Header('Cache-Control', 'no-store')
  @Header('Pragma', 'no-cache') // RFC 6749, section 5.1
  @Post('oauth/token')
  async poll(@Req() request: Request, @OAuthForm() form: URLSearchParams): Promise<OAuthTokenResponse> {
    const grantType = form.get('grant_type');
    if (grantType === null) throw new InvalidRequest('grant_type is required');
    if (grantType !== DEVICE_CODE_GRANT) throw new UnsupportedGrantType(DEVICE_CODE_GRANT);
    const deviceCode = form.get('device_code');
    if (deviceCode === null) throw new InvalidRequest('device_code is required');
    const { api_key } = await this.polling.poll(deviceCode, {
      isDisconnected: () => request.socket.destroyed,
      mayRetryAtOnce: hasBasicCredentials(request),
    });
    return { access_token: api_key, token_type: 'Bearer' };
  }

  @Operation('getOAuthMetadata', 'Find the OAuth endpoints (RFC 8414)', {
    description: 'OAuth libraries find the endpoints of the device flow here.',
    response: OAuthMetadataResponse,
  })
  @Get(METADATA_PATH)
  metadata(): OAuthMetadataResponse {
    const { publicUrl } = this.settings;
    return {
      issuer: publicUrl,
      device_authorization_endpoint: `${publicUrl}/oauth/device_authorization`,
      token_endpoint: `${publicUrl}/oauth/token`,
      revocation_endpoint: `${publicUrl}/oauth/revoke`,
      introspection_endpoint: `${publicUrl}/oauth/introspect`,
      grant_types_supported: [DEVICE_CODE_GRANT],
      response_types_supported: [],
      token_endpoint_auth_methods_supported: ['none'],
      revocation_endpoint_auth_methods_supported: ['none'],
      introspection_endpoint_auth_methods_supported: ['Bearer'],
      service_documentation: `${publicUrl}/docs`,
    };
  }
}

/**
 * Whether the request has an `Authorization: Basic` header. Clients need no credentials, and the header is not verified.
 * Go's x/oauth2 probes how to send credentials: it polls with the header and, after any error, at once again without
 * it. If the second poll were always too early, the client would add 5 s to its interval each time. A client that
 * always sends the header, such as requests-oauthlib, gets the same responses as others.
 */
function hasBasicCredentials({ headers }: Request): boolean {
  return /^basic\s/i.test(headers.authorization ?? '');
}
