import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module.js';
import { pollBusilyFor } from './common/busy-poll.js';
import { HttpServerAdapter } from './common/http-server.js';
import { JsonLogger } from './common/logger.js';
import { securityHeaders } from './common/security-headers.js';
import type { Settings } from './config/settings.js';
import { metadataOfIssuer } from './device-auth/oauth-metadata-path.js';
import { StoreOwner } from './documents/store-owner.js';
import { Metrics } from './metrics/metrics.js';
import { observeRequests } from './metrics/request-observer.js';
import { serveApiPages } from './openapi/openapi.js';

/** The whole service, not listening yet: what `main` and the tests have in common. */
export async function setupApp(settings: Settings, databaseUrl: string): Promise<NestExpressApplication> {
  const app = await NestFactory.create<NestExpressApplication>(
    AppModule.with(settings, databaseUrl),
    new HttpServerAdapter(settings),
    { bodyParser: false, logger: new JsonLogger(settings.logLevel), abortOnError: false },
  );
  pollBusilyFor(settings.busyPollMs);
  app.disable('x-powered-by');
  app.set('trust proxy', [...settings.trustProxy]);
  app.use(
    observeRequests(app.get(Metrics)),
    securityHeaders(settings.publicUrl),
    metadataOfIssuer(settings.publicUrl),
  );
  serveApiPages(app, settings);
  await claimStore(app);
  await app.init();
  return app;
}

/** Before jobs and requests write to it. @throws SettingsError where it is another system's */
async function claimStore(app: NestExpressApplication): Promise<void> {
  try {
    await app.get(StoreOwner).claim();
  } catch (error) {
    await app.close();
    throw error;
  }
}
