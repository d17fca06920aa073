import { oneOf, Shown, text } from '../../common/members.js';

const names = (...example: string[]) => ({ type: 'array', items: { type: 'string' }, example });

/** RFC 6749, section 5.1. */
export class OAuthTokenResponse {
  @Shown(text('mk_7Hq2vN0dK5sWb8xTzJ4mRcYfL1gPaE6uQoXi2a0Bc3Dx9Qd'), 'The proxy key.')
  access_token: string;

  @Shown(oneOf(['Bearer']))
  token_type: 'Bearer';
}

/** RFC 8414, section 2. */
export class OAuthMetadataResponse {
  @Shown(text('https://mintkeep.example.com'))
  issuer: string;

  @Shown(text('https://mintkeep.example.com/oauth/device_authorization'))
  device_authorization_endpoint: string;

  @Shown(text('https://mintkeep.example.com/oauth/token'))
  token_endpoint: string;

  @Shown(names('urn:ietf:params:oauth:grant-type:device_code'))
  grant_types_supported: string[];

  @Shown(names(), 'None: there is no authorization endpoint.')
  response_types_supported: string[];

  @Shown(names('none'))
  token_endpoint_auth_methods_supported: string[];

  @Shown(text('https://mintkeep.example.com/docs'))
  service_documentation: string;
}
