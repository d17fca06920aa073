import { createRequire } from 'node:module';
import type { Express, Response } from 'express';
import { DOCS_SCRIPT, DOCS_STYLE } from './docs-assets.js';

/** Swagger UI comes with `@nestjs/swagger`, wherever that is installed. */
const require = createRequire(createRequire(import.meta.url).resolve('@nestjs/swagger'));

const MAX_AGE_SECONDS = 3_600;
const CACHE = `public, max-age=${MAX_AGE_SECONDS}`;

/** Nothing from outside, and nothing inline; Swagger UI draws its icons from `data:`. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

/** By relative addresses: in front of it may be a path of the public address. */
const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>mintkeep API</title>
<link rel="icon" href="docs/favicon.png">
<link rel="stylesheet" href="docs/swagger-ui.css">
<link rel="stylesheet" href="docs/page.css">
</head>
<body>
<div id="docs"></div>
<noscript><p>This page needs JavaScript. The same is in <a href="openapi.json">openapi.json</a>.</p></noscript>
<script src="docs/swagger-ui.js"></script>
<script src="docs/page.js"></script>
</body>
</html>
`;

/** `/docs` and all that it loads. */
export function serveDocsPage(router: Express): void {
  router.get('/docs', (request, response) => {
    if (request.path.endsWith('/')) return response.redirect('../docs');
    secured(response).set('Content-Security-Policy', POLICY).type('html').send(PAGE);
  });
  serveText(router, '/docs/page.css', 'css', DOCS_STYLE);
  serveText(router, '/docs/page.js', 'js', DOCS_SCRIPT);
  serveFile(router, '/docs/swagger-ui.css', 'swagger-ui-dist/swagger-ui.css');
  serveFile(router, '/docs/swagger-ui.js', 'swagger-ui-dist/swagger-ui-bundle.js');
  serveFile(router, '/docs/favicon.png', 'swagger-ui-dist/favicon-32x32.png');
}

function serveText(router: Express, path: string, type: string, text: string): void {
  router.get(path, (_, response) => {
    secured(response).set('Cache-Control', CACHE).type(type).send(text);
  });
}

function serveFile(router: Express, path: string, file: string): void {
  const absolute = require.resolve(file);
  router.get(path, (_, response) => {
    secured(response)
      .set('Cache-Control', CACHE)
      .sendFile(absolute, { cacheControl: false, dotfiles: 'allow' });
  });
}

function secured(response: Response): Response {
  return response.set({ 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'same-origin' });
}
