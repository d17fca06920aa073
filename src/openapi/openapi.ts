import type { NestExpressApplication } from '@nestjs/platform-express';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { Settings } from '../config/settings.js';
import { serveDocsPage } from './docs-page.js';
import { createDocument } from './document.js';

/** The integrators' page at `/docs` and its OpenAPI document at `/openapi.json`; to be called before `init`. */
export function serveApiPages(app: NestExpressApplication, settings: Settings): void {
  const router = app.getHttpAdapter().getInstance();
  let document: OpenAPIObject | undefined;
  router.get('/openapi.json', (_, response) => {
    document ??= createDocument(app, settings); // on demand: most replicas are never asked
    response.json(document);
  });
  serveDocsPage(router);
}
