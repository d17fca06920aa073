import type { RequestHandler } from 'express';

export const METADATA_PATH = '.well-known/oauth-authorization-server';

/**
 * Where the issuer has a path, RFC 8414, section 3.1, puts it behind the well-known address, and not in front as that of
 * all others, where a balancer takes it off.
 */
export function metadataOfIssuer(publicUrl: string): RequestHandler {
  const ours = `/${METADATA_PATH}`;
  const ofIssuer = ours + new URL(publicUrl).pathname;
  return (request, _response, next) => {
    if (request.path === ofIssuer) request.url = ours;
    next();
  };
}
