import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { JWTPayload } from 'jose';
import supertest from 'supertest';
import { parseSettings } from '../../src/config/parse-settings.js';
import type { Settings } from '../../src/config/settings.js';
import { createDocument } from '../../src/openapi/document.js';
import { setupApp } from '../../src/setup-app.js';
import type { AppLimits } from '../../src/setup-app.js';
import { Contract } from './contract.js';
import type { ApiDocument } from './contract.js';
import { createDatabase } from './database.js';
import type { TestDatabase } from './database.js';
import { SESSION_SECRET, sessionFor } from './sessions.js';

/** Responses of this file's apps since the last test that the OpenAPI document does not describe. */
const violations: string[] = [];
const contracts = new Map<string, Contract>();

/** Takes the {@link violations} before the end of the test. */
export const takeViolations = (): string[] => violations.splice(0);

/** The test that made the request fails. */
afterEach(() => expect(takeViolations()).toEqual([]));
afterAll(() => expect(takeViolations()).toEqual([]));

/** The document is the same for all apps of a kind. */
function contractOf(app: NestExpressApplication, settings: Settings): Contract {
  const kind = JSON.stringify([settings.developmentSignIn, settings.dashboard !== undefined]);
  const contract =
    contracts.get(kind) ?? new Contract(createDocument(app, settings) as unknown as ApiDocument);
  contracts.set(kind, contract);
  return contract;
}

/** Sends requests to one service, all with the same credentials. */
export type Agent = ReturnType<typeof supertest.agent>;

/** Time that a slow machine has for a query of a proxied request. */
const PATIENT_MS = 30_000;

/** The service on a database and a data folder of its own, listening on a free port. */
export interface TestApp {
  readonly app: NestExpressApplication;
  readonly database: TestDatabase;
  readonly dataDir: string;
  /** `http://127.0.0.1:port` */
  readonly url: string;
  /** Requests without a session. */
  readonly anonymous: Agent;
  /** Requests of a user, who is made on first use; `claims` of the session beside the usual ones. */
  as(user: string, claims?: JWTPayload): Promise<Agent>;
  close(): Promise<void>;
}

/**
 * @param variables environment variables beside the usual ones
 * @param shared what another app has already, to start a second replica (the app itself shares both); it stays when
 *   this one is closed
 * @param limits in place of the usual ones
 */
export async function startApp(
  variables: NodeJS.ProcessEnv = {},
  shared: { database?: TestDatabase; dataDir?: string } = {},
  limits: AppLimits = {},
): Promise<TestApp> {
  const database = shared.database ?? (await createDatabase());
  const dataDir = shared.dataDir ?? (await mkdtemp(join(tmpdir(), 'mintkeep-data-')));
  const settings = parseSettings({ ...testVariables(database.url, dataDir), ...variables });
  const app = await setupApp(settings, database.url, { urgentTimeoutMs: PATIENT_MS, ...limits });
  await app.listen(Number(variables.PORT ?? 0), '127.0.0.1');
  const server = app.getHttpServer();
  contractOf(app, settings).watch(app, (violation) => violations.push(violation));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    app,
    database,
    dataDir,
    url,
    anonymous: supertest.agent(url),
    as: async (user, claims) =>
      supertest.agent(url).set('Authorization', `Bearer ${await sessionFor(user, claims)}`),
    close: async () => {
      server.closeAllConnections();
      await app.close();
      if (!shared.database) await database.drop();
      if (!shared.dataDir) await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Whether the tests run on the fast path. `HTTP_FAST_PATH=off` runs them on the Node path. */
export const IS_FAST_PATH = process.env.HTTP_FAST_PATH !== 'off';

/** Settings of a service on a test's database and folder. */
export function testVariables(databaseUrl: string, dataDir: string): NodeJS.ProcessEnv {
  return {
    DATABASE_URL: databaseUrl,
    DATA_DIR: dataDir,
    SESSION_JWT_SECRET: SESSION_SECRET,
    ENCRYPTION_KEYS: Buffer.alloc(32, 1).toString('base64'),
    LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'silent',
    HTTP_FAST_PATH: process.env.HTTP_FAST_PATH,
  };
}
