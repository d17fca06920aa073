import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Express, Response } from 'express';
import { Asset } from './asset.js';
import { DOCS_SCRIPT, DOCS_STYLE } from './docs-assets.js';

/** Resolves Swagger UI, a dependency of `@nestjs/swagger`. */
const require = createRequire(createRequire(import.meta.url).resolve('@nestjs/swagger'));

const MAX_AGE_SECONDS = 3_600;
const CACHE = `public, max-age=${MAX_AGE_SECONDS}`;

/** Allows neither other origins nor inline code. Swagger UI loads its icons from `data:` URLs. */
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

/** Uses relative URLs, because the public URL may have a path. */
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
<noscript><p>This page needs JavaScript. The document itself is <a href="openapi.json">openapi.json</a>.</p></noscript>
<script src="docs/swagger-ui.js"></script>
<script src="docs/page.js"></script>
</body>
</html>
`;

/** Serves `/docs` and the files that the page loads. */
export function serveDocsPage(router: Express): void {
  router.get('/docs', (request, response) => {
    if (request.path.endsWith('/')) return response.redirect('../docs');
    secured(response).set('Content-Security-Policy', POLICY).type('html').send(PAGE);
  });
  serve(router, '/docs/page.css', 'css', () => Buffer.from(DOCS_STYLE));
  serve(router, '/docs/page.js', 'js', () => Buffer.from(DOCS_SCRIPT));
  serve(router, '/docs/swagger-ui.css', 'css', () => readAsset('swagger-ui-dist/swagger-ui.css'));
  serve(router, '/docs/swagger-ui.js', 'js', () => readAsset('swagger-ui-dist/swagger-ui-bundle.js'));
  serve(router, '/docs/favicon.png', 'png', () => readAsset('swagger-ui-dist/favicon-32x32.png'));
}

function readAsset(name: string): Buffer {
  return readFileSync(require.resolve(name));
}

/** @param read called by the first request */
function serve(router: Express, path: string, type: string, read: () => Buffer): void {
  const asset = new Asset(type, read);
  router.get(path, (_, response) => asset.send(secured(response).set('Cache-Control', CACHE)));
}

function secured(response: Response): Response {
  return response.set({ 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'same-origin' });
}
