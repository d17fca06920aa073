import type { NestExpressApplication } from '@nestjs/platform-express';
import { acceptsHtml } from '../common/api/accepts-html.js';
import { pathBelow } from '../common/pages/page.js';
import type { Settings } from '../config/settings.js';
import { Asset } from './page/asset.js';
import { serveDocsPage } from './page/docs-page.js';
import { createDocument } from './document.js';

/**
 * Serves the API documentation at `/docs` and its OpenAPI document at `/openapi.json`. `/` redirects to `/docs`, except
 * browsers if there is a dashboard. Must be called before `init`.
 */
export function serveApiPages(app: NestExpressApplication, settings: Settings): void {
  const router = app.getHttpAdapter().getInstance();
  const document = new Asset('json', () => Buffer.from(JSON.stringify(createDocument(app, settings))));
  router.get('/openapi.json', (_, response) => document.send(response));
  serveDocsPage(router);
  router.get('/', (request, response, next) => {
    if (settings.dashboard && acceptsHtml(request)) return next();
    response.vary('Accept').redirect(pathBelow(settings.publicUrl, '/docs'));
  });
}
