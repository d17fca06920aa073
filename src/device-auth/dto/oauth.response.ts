/** RFC 6749, section 5.1. */
export class OAuthTokenResponse {
  /** The proxy key. */
  access_token: string;
  token_type: 'Bearer';
}

/** RFC 8414, section 2. */
export class OAuthMetadataResponse {
  issuer: string;
  device_authorization_endpoint: string;
  token_endpoint: string;
  grant_types_supported: string[];
  /** None: there is no authorization endpoint. */
  response_types_supported: string[];
  token_endpoint_auth_methods_supported: string[];
  service_documentation: string;
}
