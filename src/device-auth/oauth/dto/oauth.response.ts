import { ApiMember, oneOf, text } from '../../../common/api/members.js';

const names = (...example: string[]) => ({ type: 'array', items: { type: 'string' }, example });

/** RFC 6749, section 5.1. */
export class OAuthTokenResponse {
  @ApiMember(text('mk_7Hq2vN0dK5sWb8xTzJ4mRcYfL1gPaE6uQoXi2a0Bc3Dx9Qd'), 'The proxy key.')
  access_token: string;

  @ApiMember(oneOf(['Bearer']))
  token_type: 'Bearer';
}

/** RFC 8414, section 2. */
export class OAuthMetadataResponse {
  @ApiMember(text('https://mintkeep.example.com'))
  issuer: string;

  @ApiMember(text('https://mintkeep.example.com/oauth/device_authorization'))
  device_authorization_endpoint: string;

  @ApiMember(text('https://mintkeep.example.com/oauth/token'))
  token_endpoint: string;

  @ApiMember(text('https://mintkeep.example.com/oauth/revoke'))
  revocation_endpoint: string;

  @ApiMember(text('https://mintkeep.example.com/oauth/introspect'))
  introspection_endpoint: string;

  @ApiMember(names('urn:ietf:params:oauth:grant-type:device_code'))
  grant_types_supported: string[];

  @ApiMember(names(), 'None: there is no authorization endpoint.')
  response_types_supported: string[];

  @ApiMember(names('none'))
  token_endpoint_auth_methods_supported: string[];

  @ApiMember(names('none'))
  revocation_endpoint_auth_methods_supported: string[];

  @ApiMember(names('Bearer'), 'The key itself is the credential.')
  introspection_endpoint_auth_methods_supported: string[];

  @ApiMember(text('https://mintkeep.example.com/docs'))
  service_documentation: string;
}
