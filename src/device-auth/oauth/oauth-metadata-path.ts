import type { RequestHandler } from 'express';

export const METADATA_PATH = '.well-known/oauth-authorization-server';

/**
 * Accepts the metadata URL of an issuer with a path. RFC 8414, section 3.1, appends the issuer's path to the well-known
 * path. A load balancer strips only a path in front.
 */
export function redirectIssuerMetadata(publicUrl: string): RequestHandler {
  const ownPath = `/${METADATA_PATH}`;
  const issuerPath = ownPath + new URL(publicUrl).pathname;
  return (request, _response, next) => {
    if (request.path === issuerPath) request.url = ownPath;
    next();
  };
}
