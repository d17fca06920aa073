import { KeyAuthenticator } from '../../src/keys/key-authenticator.js';
import { KeyUsage } from '../../src/keys/key-usage.js';
import { newKeySecret } from '../../src/keys/key-format.js';
import { DatabaseUnavailable } from '../../src/keys/keys.errors.js';
import { STATEMENT_TIMEOUT_MS } from '../../src/database/connection/data-source.js';
import { Invalidations } from '../../src/database/invalidation/invalidations.js';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { createDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { startUpstream } from '../support/fake-upstream.js';
import type { FakeUpstream } from '../support/fake-upstream.js';
import { inParallel } from '../support/parallel.js';
import { call, ownerWith } from '../support/proxy-client.js';
import { connectRaw, statusesIn } from '../support/raw-client.js';
import { undisturbed } from '../support/standstill.js';
import { startTcpProxy } from '../support/tcp-proxy.js';
import type { TcpProxy } from '../support/tcp-proxy.js';

const { jest } = import.meta;

afterEach(() => {
  jest.restoreAllMocks();
});

const GRACE_SECONDS = 60;
const POOL_SIZE = 20;

let app: TestApp;
let keys: KeyAuthenticator;

const start = async (graceSeconds: number) => {
  app = await startApp({ KEY_GRACE_SECONDS: String(graceSeconds) });
  keys = app.app.get(KeyAuthenticator, { strict: false });
};

const mint = async () => (await (await app.as('ann')).post('/me/keys').expect(201)).body.api_key as string;
const ask = async (secret: string) => keys.authenticate(secret);
const isLeased = (leased: boolean) =>
  eventually(() => expect(app.app.get(Invalidations, { strict: false }).hasLease).toBe(leased));

/** Lets the time pass by which leases and grace periods are measured. */
function letPass(seconds: number): void {
  const now = performance.now.bind(performance);
  jest.spyOn(performance, 'now').mockImplementation(() => now() + seconds * 1_000);
}

describe('an unreachable database', () => {
  afterEach(async () => {
    await app.database.acceptConnections();
    await app.close();
  });

  it('serves verified keys during the grace period only, and rejects other keys', async () => {
    await start(GRACE_SECONDS);
    const [known, unseen] = [await mint(), await mint()];
    expect(await ask(known)).toBeDefined();
    await app.database.rejectConnections();
    await isLeased(false);
    expect(await ask(known)).toBeDefined();
    await expect(ask(unseen)).rejects.toThrow(DatabaseUnavailable);
    await expect(ask(newKeySecret())).rejects.toThrow(DatabaseUnavailable);
    expect(await ask('mk_not-a-key')).toBeUndefined();
    letPass(GRACE_SECONDS);
    await eventually(() => expect(ask(known)).rejects.toThrow(DatabaseUnavailable));
    await app.database.acceptConnections();
    await eventually(async () => expect(await ask(known)).toBeDefined());
    expect(await ask(unseen)).toBeDefined();
  });

  it('rejects a key that expires during the outage', async () => {
    await start(60);
    const inAnHour = Date.now() + 3_600_000;
    const expires_at = new Date(inAnHour).toISOString();
    const { body } = await (await app.as('ann')).post('/me/keys').send({ expires_at }).expect(201);
    expect(await ask(body.api_key)).toBeDefined();
    await app.database.rejectConnections();
    await isLeased(false);
    expect(await ask(body.api_key)).toBeDefined();
    jest.spyOn(Date, 'now').mockReturnValue(inAnHour);
    expect(await ask(body.api_key)).toBeUndefined();
  });

  it('a key that cannot be checked again when its body is complete is 503', async () => {
    await start(0);
    const known = await mint();
    const head = `POST /v1/a HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${known}\r\nContent-Length: 2\r\n`;
    await call(app, known, { body: '{}' }); // the key is in memory
    const client = await connectRaw(app, `${head}X-Request-Id: again\r\n\r\n{`);
    await call(app, known, { body: '{}' }); // and the client's headers are read
    await app.database.rejectConnections();
    await isLeased(false);
    client.socket.write('}');
    await eventually(() => expect(statusesIn(client.text())).toEqual([503]));
    expect(client.text()).toContain('"code":"database_unavailable"');
    client.socket.destroy();
    await app.database.acceptConnections();
    await eventually(async () => {
      const rows = await app.database.query(
        "SELECT status, outcome FROM usage_records WHERE request_id = 'again'",
      );
      expect(rows).toEqual([{ status: 503, outcome: 'no_upstream' }]);
    });
  });

  it('serves no key after the lease if the grace period is 0', async () => {
    await start(0);
    const known = await mint();
    expect(await ask(known)).toBeDefined();
    await app.database.rejectConnections();
    await eventually(() => expect(ask(known)).rejects.toThrow(DatabaseUnavailable));
  });

  it('rejects a key in an outage if it was revoked in an earlier gap', async () => {
    await start(GRACE_SECONDS);
    const known = await mint();
    expect(await ask(known)).toBeDefined();
    await app.database.rejectConnections();
    await isLeased(false);
    await app.database.acceptConnections();
    await app.database.query('UPDATE proxy_keys SET revoked_at = now()'); // by another replica
    await isLeased(true);
    letPass(GRACE_SECONDS);
    await isLeased(true);
    await app.database.rejectConnections();
    await isLeased(false);
    await expect(ask(known)).rejects.toThrow(DatabaseUnavailable);
  });

  it('rejects a key for good that was revoked while the replica was disconnected', async () => {
    await start(60);
    const known = await mint();
    expect(await ask(known)).toBeDefined();
    await app.database.rejectConnections();
    expect(await ask(known)).toBeDefined();
    await app.database.acceptConnections();
    await app.database.query('UPDATE proxy_keys SET revoked_at = now()'); // by another replica
    await eventually(async () => expect(await ask(known)).toBeUndefined());
    await app.database.rejectConnections();
    await isLeased(false);
    await expect(ask(known)).rejects.toThrow(DatabaseUnavailable);
  });

  it('writes the time of last use after the outage, unless a later one is stored', async () => {
    await start(60);
    const ann = await app.as('ann');
    const usage = app.app.get(KeyUsage, { strict: false });
    const usedAt = async () => {
      const { keys: listed } = (await ann.get('/me/keys').expect(200)).body;
      return (listed as { last_used_at: string | null }[]).map((key) => key.last_used_at);
    };
    const secrets = [await mint(), await mint()];
    for (const secret of secrets) await ask(secret);
    await app.database.rejectConnections();
    await usage.flush();
    await app.database.acceptConnections();
    const later = '2099-01-01T00:00:00.000Z';
    await app.database.query('UPDATE proxy_keys SET last_used_at = $1 WHERE last4 = $2', [
      later,
      secrets[1]!.slice(-4),
    ]);
    await usage.flush();
    expect(await usedAt()).toEqual([expect.any(String), later]);
  });
});

it('writes the time of last use at shutdown, too', async () => {
  const database = await createDatabase();
  app = await startApp({}, { database });
  keys = app.app.get(KeyAuthenticator, { strict: false });
  await ask(await mint());
  await app.close();
  const unused = await database.query('SELECT 1 FROM proxy_keys WHERE last_used_at IS NULL');
  await database.drop();
  expect(unused).toEqual([]);
});

describe('a database that silently stops responding', () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let upstream: FakeUpstream;

  beforeEach(async () => {
    database = await createDatabase();
    proxy = await startTcpProxy(database.url);
    upstream = await startUpstream();
    app = await startApp(
      { UPSTREAM_PRIVATE_NETWORKS: 'allow', KEY_GRACE_SECONDS: '3600' },
      { database: { ...database, url: proxy.url } },
      { urgentTimeoutMs: 2_000 },
    );
    keys = app.app.get(KeyAuthenticator, { strict: false });
  });

  afterEach(async () => {
    await upstream.close();
    await proxy.stop();
    await app.close();
    await database.drop();
  });

  it('delays verified keys for a moment, and is used again at once when it is back', async () => {
    const { owner, key: known } = await ownerWith(app, upstream.url);
    const unseen = (await owner.admin.post('/me/keys').expect(201)).body.api_key as string;
    expect((await call(app, known)).status).toBe(200);

    proxy.hang();
    await isLeased(false); // from here on the replica has to ask
    await inParallel(2 * POOL_SIZE, async () => {
      const beganAt = performance.now();
      expect((await call(app, known)).status).toBe(200);
      expect(performance.now() - beganAt).toBeLessThan(STATEMENT_TIMEOUT_MS); // the lease passes, no statement times out
    });
    await expect(ask(unseen)).rejects.toThrow(DatabaseUnavailable);

    proxy.comeBack(database.url); // what hangs in the pool still does
    await database.query('UPDATE proxy_keys SET revoked_at = now()'); // by another replica
    await eventually(async () => expect((await call(app, known)).status).toBe(401));
  });

  it('serves verified keys when it is back, although old connections still hang', async () => {
    const { key: known } = await ownerWith(app, upstream.url);
    expect((await call(app, known)).status).toBe(200);
    await undisturbed(async () => {
      proxy.hang();
      await isLeased(false);
      proxy.comeBack(database.url);
      await isLeased(true);
      await inParallel(2 * POOL_SIZE, async () => expect((await call(app, known)).status).toBe(200));
    });
  });
});
