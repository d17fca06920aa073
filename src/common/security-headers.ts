import type { RequestHandler } from 'express';
import helmet from 'helmet';
import type { HelmetOptions } from 'helmet';

const YEAR_SECONDS = 31_536_000;

/**
 * Headers for everything that Express answers. Answers are data, and may do nothing in a browser; pages say
 * themselves what they need (`sendPage`), the page of the API's documentation needs scripts and styles of its own.
 * @param publicUrl where it begins with `https:`, browsers are told never to come by `http:` again
 */
export function securityHeaders(publicUrl: string): RequestHandler {
  const forData = helmet(options(publicUrl, { defaultSrc: ["'none'"], frameAncestors: ["'none'"] }));
  const forDocumentation = helmet(
    options(publicUrl, {
      defaultSrc: ["'self'"],
      styleSrc: ["'self'", "'unsafe-inline'"],
      imgSrc: ["'self'", 'data:'],
      connectSrc: ["'self'", new URL(publicUrl).origin], // it can send requests
      objectSrc: ["'none'"],
      baseUri: ["'none'"],
      frameAncestors: ["'none'"],
    }),
  );
  return (request, response, next) => {
    const isDocumentation = /^\/docs(?:\/|$)/.test(request.path);
    (isDocumentation ? forDocumentation : forData)(request, response, next);
  };
}

function options(publicUrl: string, directives: Record<string, string[]>): HelmetOptions {
  return {
    contentSecurityPolicy: { useDefaults: false, directives },
    strictTransportSecurity: publicUrl.startsWith('https:') && { maxAge: YEAR_SECONDS },
    referrerPolicy: { policy: 'no-referrer' },
    xFrameOptions: { action: 'deny' },
    // For plug-ins and browsers that are gone.
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
  };
}
