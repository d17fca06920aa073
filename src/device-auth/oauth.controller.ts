import { Controller, Get, Header, HttpCode, HttpStatus, Post, Req, UseFilters } from '@nestjs/common';
import type { Request } from 'express';
import { Public } from '../auth/public.decorator.js';
import { Settings } from '../config/settings.js';
import { clientAddress } from './client-address.js';
import { InvalidRequest } from './device-auth.errors.js';
import { HOSTNAME_MAX_LENGTH, NAME_MAX_LENGTH, toShownName } from './device-name.js';
import { DevicePollingService } from './device-polling.service.js';
import { DeviceSessionsService } from './device-sessions.service.js';
import { DeviceCodeResponse } from './dto/device-code.response.js';
import { OAuthMetadataResponse, OAuthTokenResponse } from './dto/oauth.response.js';
import { OAuthErrorFilter } from './oauth-error.filter.js';
import { OAuthForm } from './oauth-form.js';
import { UnsupportedGrantType } from './oauth.errors.js';

const DEVICE_CODE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/**
 * The device flow as RFC 8628 has it, for clients that know it from there. Clients are not registered: their
 * `client_id` is a name like any other.
 */
@Public() // the device has no session: its code is the credential
@UseFilters(OAuthErrorFilter)
@Controller()
export class OAuthController {
  constructor(
    private readonly sessions: DeviceSessionsService,
    private readonly polling: DevicePollingService,
    private readonly settings: Settings,
  ) {}

  @HttpCode(HttpStatus.OK)
  @Header('Cache-Control', 'no-store')
  @Post('oauth/device_authorization')
  begin(@Req() request: Request, @OAuthForm() form: URLSearchParams): Promise<DeviceCodeResponse> {
    const name = toShownName(form.get('name') ?? form.get('client_id') ?? '', NAME_MAX_LENGTH);
    const hostname = toShownName(form.get('hostname') ?? '', HOSTNAME_MAX_LENGTH);
    return this.sessions.begin({ name, hostname }, clientAddress(request));
  }

  @HttpCode(HttpStatus.OK)
  @Header('Cache-Control', 'no-store')
  @Post('oauth/token')
  async poll(@OAuthForm() form: URLSearchParams): Promise<OAuthTokenResponse> {
    const grantType = form.get('grant_type');
    if (grantType === null) throw new InvalidRequest('grant_type is missing');
    if (grantType !== DEVICE_CODE_GRANT) throw new UnsupportedGrantType();
    const deviceCode = form.get('device_code');
    if (deviceCode === null) throw new InvalidRequest('device_code is missing');
    const { api_key } = await this.polling.poll(deviceCode);
    return { access_token: api_key, token_type: 'Bearer' };
  }

  @Get('.well-known/oauth-authorization-server')
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
