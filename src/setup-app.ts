import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module.js';
import type { Timeouts } from './app.module.js';
import { HTTP_LIMITS } from './http/server/http-limits.js';
import type { HttpLimits } from './http/server/http-limits.js';
import { HttpServerAdapter } from './http/server/http-server.js';
import type { TrustProxy } from './http/server/http-server.js';
import { JsonLogger } from './common/logging/logger.js';
import { securityHeaders } from './http/server/security-headers.js';
import type { Settings } from './config/settings.js';
import { redirectIssuerMetadata } from './device-auth/oauth/oauth-metadata-path.js';
import { StoreOwner } from './documents/store/store-owner.js';
import { Metrics } from './metrics/metrics.js';
import { observeRequests } from './metrics/request-observer.js';
import { serveApiPages } from './openapi/openapi.js';

/** Maximum number of trusted proxies that a request passes. */
const MAX_PROXIES = 32;

/** Limits that no deployment has a reason to change. */
export interface AppLimits extends Partial<HttpLimits>, Timeouts {}

/**
 * Creates the service without listening: the part that `main` and the tests share.
 * @param limits other limits for tests
 */
export async function setupApp(
  settings: Settings,
  databaseUrl: string,
  limits: AppLimits = {},
): Promise<NestExpressApplication> {
  const app = await NestFactory.create<NestExpressApplication>(
    AppModule.with(settings, databaseUrl, limits),
    new HttpServerAdapter({ ...settings, ...HTTP_LIMITS, ...limits }),
    { bodyParser: false, logger: new JsonLogger(settings.logLevel), abortOnError: false },
  );
  app.disable('x-powered-by');
  trustProxies(app, settings.trustProxy);
  app.use(
    observeRequests(app.get(Metrics)),
    securityHeaders(settings.publicUrl),
    redirectIssuerMetadata(settings.publicUrl),
  );
  serveApiPages(app, settings);
  await claimStore(app);
  await app.init();
  return app;
}

/** Limits the addresses in `X-Forwarded-For` that Express checks, because a client may send thousands. */
function trustProxies(app: NestExpressApplication, proxies: readonly string[]): void {
  app.set('trust proxy', [...proxies]);
  const trusts = app.getHttpAdapter().getInstance().get('trust proxy fn') as TrustProxy;
  app.set('trust proxy', (address: string, hop: number) => hop < MAX_PROXIES && trusts(address, hop));
}

/** Claims the object store, so that jobs and requests may write to it. @throws SettingsError if another system owns it */
async function claimStore(app: NestExpressApplication): Promise<void> {
  try {
    await app.get(StoreOwner).claim();
  } catch (error) {
    await app.close();
    throw error;
  }
}
