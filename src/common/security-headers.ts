import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import helmet from 'helmet';
import type { HelmetOptions } from 'helmet';

const YEAR_SECONDS = 31_536_000;

/**
 * Headers for everything that Express answers. Answers are data, and may do nothing in a browser; pages say
 * themselves what they need.
 * @param publicUrl where it begins with `https:`, browsers are told never to come by `http:` again
 */
export function securityHeaders(publicUrl: string): RequestHandler {
  const headers = headersOf({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
    strictTransportSecurity: publicUrl.startsWith('https:') && { maxAge: YEAR_SECONDS },
    referrerPolicy: { policy: 'no-referrer' },
    xFrameOptions: { action: 'deny' },
    originAgentCluster: false, // browsers' default
    // For plug-ins and browsers that are gone.
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
  });
  return (_request, response, next) => {
    for (const [name, value] of headers) response.setHeader(name, value);
    next();
  };
}

/** What helmet says, asked once: it is the same for every request. */
function headersOf(options: HelmetOptions): [string, string][] {
  const headers: [string, string][] = [];
  const response = {
    setHeader: (name: string, value: string) => headers.push([name, value]),
    removeHeader: () => undefined, // `X-Powered-By` is off
  };
  helmet(options)({} as IncomingMessage, response as unknown as ServerResponse, () => undefined);
  return headers;
}
