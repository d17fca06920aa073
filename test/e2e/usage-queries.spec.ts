import { QUERY_TIMEOUT_MS } from '../../src/usage/query/usage-database.js';
import { startApp } from '../support/app.js';
import type { Agent, TestApp } from '../support/app.js';
import { connect, lockedOut } from '../support/database.js';
import { join, personalOwner, teamOwner } from '../support/owners.js';
import type { TestOwner } from '../support/owners.js';
import { inParallel } from '../support/parallel.js';
import { recordAll, usageRecord } from '../support/usage.js';
import { withinWindow } from '../support/within-window.js';

const UNTYPED = { error: { message: expect.any(String) } };
const NO_ID = '00000000-0000-0000-0000-000000000000';
const PUBLIC_URL = 'https://example.com/mint';
const MARCH = { from: '2026-03-01', to: '2026-04-01' };

let app: TestApp;

beforeAll(async () => {
  app = await startApp({ PUBLIC_URL });
});
afterAll(() => app.close());

const total = async (agent: Agent, path: string, query: object = MARCH) =>
  (await agent.get(path).query(query).expect(200)).body.totals.requests as number;

describe('the filter by outcome', () => {
  it('selects requests, with one value or several, in JSON and in CSV', async () => {
    const { admin, base, organizationId } = await teamOwner(app);
    const at = '2026-03-10T12:34:56.789Z';
    const outcomes = ['ok', 'client_error', 'interrupted'] as const;
    await recordAll(
      app,
      outcomes.map((outcome) => usageRecord({ at, organization_id: organizationId, outcome })),
    );
    const found = async (outcome: string) => {
      const { body } = await admin
        .get(`${base}/usage/requests`)
        .query({ ...MARCH, outcome })
        .expect(200);
      return (body.requests as { outcome: string }[]).map((request) => request.outcome).sort();
    };
    expect(await found('ok')).toEqual(['ok']);
    expect(await found('interrupted,client_error')).toEqual(['client_error', 'interrupted']);
    expect(await found('no_upstream')).toEqual([]);
    const csv = await admin
      .get(`${base}/usage/requests?outcome[]=ok&outcome[]=interrupted`)
      .query(MARCH)
      .set('Accept', 'text/csv')
      .expect(200);
    expect(csv.text.trim().split('\r\n')).toHaveLength(3);
  });

  it('rejects unknown outcomes', async () => {
    const { admin, base } = await teamOwner(app);
    const { body } = await admin.get(`${base}/usage/requests?outcome=failed`).expect(400);
    expect(body.error.message).toMatch(/^outcome must be one of ok, /);
  });
});

describe('a caller', () => {
  let team: TestOwner;
  let person: TestOwner;
  let member: Agent;

  beforeAll(async () => {
    team = await teamOwner(app);
    person = await personalOwner(app);
    member = await join(app, team, person.user, 'member');
    const at = '2026-03-10T12:34:56.789Z';
    const of = (user_id: string, organization_id: number) => usageRecord({ at, user_id, organization_id });
    await recordAll(app, [
      ...[of(person.user, person.organizationId), of(person.user, team.organizationId)],
      ...[of(team.user, team.organizationId), of(team.user, team.organizationId)],
    ]);
  });

  it('sees what all keys of their own have used, and nobody else’s', async () => {
    expect(await total(person.admin, '/me/usage')).toBe(2);
    expect(await total(team.admin, '/me/usage')).toBe(2);
    expect(await total(await app.as('nobody'), '/me/usage')).toBe(0);
  });

  it('sees what all keys of the team have used, as a member', async () => {
    expect(await total(member, `${team.base}/usage`)).toBe(3);
    const { body } = await member.get(`${team.base}/usage/requests`).query(MARCH).expect(200);
    expect(body.requests).toHaveLength(3);
  });

  it('sees a personal organization at its address, too', async () => {
    expect(await total(person.admin, `/me/organizations/${person.organizationId}/usage`)).toBe(1);
  });

  it.each(['usage', 'usage/requests'])('gets 404 for %s as a stranger', async (path) => {
    const stranger = await app.as('stranger');
    const { body } = await stranger.get(`${team.base}/${path}`).expect(404);
    expect(body).toEqual({ error: { message: 'organization not found' } });
  });

  it('sees nothing more with a filter', async () => {
    expect(await total(person.admin, '/me/usage', { ...MARCH, user: team.user })).toBe(0);
  });

  it('sees the records of a deleted organization, but not the organization', async () => {
    const doomed = await teamOwner(app);
    const { body: key } = await doomed.admin.post(`${doomed.base}/keys`).send({ name: 'ci' }).expect(201);
    const fields = { organization_id: doomed.organizationId, user_id: doomed.user, key_id: key.id };
    await recordAll(app, [usageRecord({ at: '2026-03-10T00:00:00.000Z', ...fields })]);
    const { body } = await doomed.admin.get(doomed.base).expect(200);
    await doomed.admin.delete(doomed.base).set('X-Confirm-Slug', body.slug).expect(200);
    expect(await total(doomed.admin, '/me/usage')).toBe(1);
    await doomed.admin.get(`${doomed.base}/usage`).expect(404);
  });
});

describe('the range', () => {
  let team: TestOwner;
  const HOUR = 3_600_000;
  const now = Date.now();
  const ago = (ms: number) => new Date(now - ms).toISOString();

  beforeAll(async () => {
    team = await teamOwner(app);
    const times = [ago(0), ago(29 * 24 * HOUR), ago(31 * 24 * HOUR), '2026-03-31T23:59:59.999Z'];
    await recordAll(
      app,
      times.map((at) => usageRecord({ at, organization_id: team.organizationId })),
    );
  });

  it('is the last 30 days when nothing is said', async () => {
    const { body } = await team.admin.get(`${team.base}/usage`).expect(200);
    expect(body.totals.requests).toBe(2);
    expect(Date.parse(body.to) - Date.parse(body.from)).toBe(30 * 24 * HOUR);
    expect(body.bucket).toBe('day');
    expect(body.buckets).toHaveLength(31);
    const { body: page } = await team.admin.get(`${team.base}/usage/requests`).expect(200);
    expect(page.requests).toHaveLength(2);
  });

  it('takes times of any time zone', async () => {
    const from = '2026-04-01T01:59:59.999+02:00';
    expect(await total(team.admin, `${team.base}/usage`, { from, to: '2026-04-01' })).toBe(1);
    expect(await total(team.admin, `${team.base}/usage`, { from: '2026-04-01', to: ago(-HOUR) })).toBe(3);
    await team.admin.get(`${team.base}/usage?from=${from}&to=2026-04-01`).expect(200); // the plus not encoded
  });

  it('has calendar’s buckets, of which only what is in the range counts', async () => {
    const query = { from: '2026-03-31T22:30:00Z', to: '2026-03-31T23:59:59.999Z', bucket: 'month' };
    const { body } = await team.admin.get(`${team.base}/usage`).query(query).expect(200);
    expect(body.totals.requests).toBe(0);
    expect(body.buckets).toHaveLength(1);
    expect(body.buckets[0]).toMatchObject({
      start: '2026-03-01T00:00:00.000Z',
      end: '2026-04-01T00:00:00.000Z',
      requests: 0,
      input_tokens: null,
      latency_ms: { avg: null, p50: null, p95: null },
    });
  });

  it.each([
    'from=yesterday',
    'from=2026-13-01',
    'from=2026-02-30',
    'from=2026-02-30T25:00:00Z',
    'to=2026-03-01T00:00:00',
    'from=2026-03-02&to=2026-03-02',
    'from=2026-03-02&to=2026-03-01',
    'from=2026-03-01&from=2026-03-02',
    'from=2999-01-01',
    'from=1900-01-01',
    'bucket=week',
    'bucket=',
    'group_by=colour',
    'group_by=model,',
    'upstream=main',
    'upstream=01',
    'key=-1',
    'key=1000000000000000',
    'status=20',
    'status=200,x',
    'model=',
    'model=%00',
    `status=${Array.from({ length: 101 }, () => 200).join(',')}`,
    'bucket=hour&from=2025-01-01&to=2026-01-01',
    ...[
      'model[]=',
      'group_by[]=colour',
      'key[]=x',
      'status=200&status[]=x',
      'from[]=x',
      'to=2026-03-02&to[]=2026-03-03',
    ],
  ])('%s is rejected', async (query) => {
    expect((await team.admin.get(`${team.base}/usage?${query}`).expect(400)).body).toEqual(UNTYPED);
  });

  it('takes filters repeated, with brackets and without, and separated by commas', async () => {
    for (const query of [
      'status=200,429&status=500',
      'model=gpt-4o&model=other',
      ...['model[]=other&model[]=gpt-4o', 'model%5B%5D=gpt-4o', 'status=200&status[]=429'],
      'key=1,2',
      'upstream=1&user=ann',
    ])
      expect(await total(team.admin, `${team.base}/usage?${query}`, {})).toBe(2);
    for (const query of [
      'status=429',
      'model=gpt-4',
      'key=2',
      'upstream=7',
      'user=bob',
      'provider=x',
      'model[]=x',
    ])
      expect(await total(team.admin, `${team.base}/usage?${query}`, {})).toBe(0);
  });
});

it('rejects a query that takes too long, and does not delay others', async () => {
  const other = await connect(app.database);
  await other.query('BEGIN; LOCK TABLE usage_rollups, usage_records IN ACCESS EXCLUSIVE MODE');
  try {
    const asked = ['/me/usage', '/me/usage/requests'].map(async (path) => (await app.as('ann')).get(path));
    for (const { status, body } of await Promise.all(asked)) {
      expect(status).toBe(400);
      expect(body).toEqual({ error: { message: expect.stringContaining('too long') } });
    }
  } finally {
    await other.end();
  }
});

it('more groups than a response has are rejected', async () => {
  const at = '2026-01-01T10:00:30.000Z';
  const one = usageRecord({ at, user_id: 'many-models' });
  await recordAll(app, [one]);
  await app.database.query(
    `INSERT INTO usage_records SELECT (jsonb_populate_record(r, jsonb_build_object(
       'id', gen_random_uuid(), 'model', 'model ' || i))).*
     FROM usage_records AS r, generate_series(1, 50000) AS i WHERE r.id = $1`,
    [one.id],
  );
  const agent = await app.as('many-models');
  const query = { from: at, to: '2026-01-01T10:01:00Z', group_by: 'model' };
  await withinWindow(QUERY_TIMEOUT_MS, async () => {
    const { body } = await agent.get('/me/usage').query(query).expect(400);
    expect(body.error.message).toMatch(/more than 50000 groups/);
  });
}, 300_000);

it('queries take turns, those of one caller and those of all, and leave connections to others', () =>
  withinWindow(QUERY_TIMEOUT_MS, async () => {
    const other = await connect(app.database);
    await other.query('BEGIN; LOCK TABLE usage_rollups, usage_records IN ACCESS EXCLUSIVE MODE');
    const bob = await app.as('bob');
    const waiting = async () => {
      await bob.get('/me/projects').expect(200);
      const { rowCount } = await other.query(`SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`);
      return rowCount;
    };
    const ask = async (user: string) => (await (await app.as(user)).get('/me/usage')).status;
    const asking = [inParallel(40, () => ask('ann'))];
    let statuses: number[];
    try {
      await lockedOut(app.database, 3);
      expect(await waiting()).toBeLessThanOrEqual(3);
      asking.push(inParallel(12, (i) => ask(`asker${i % 4}`)));
      await lockedOut(app.database, 8);
      expect(await waiting()).toBeLessThanOrEqual(8);
    } finally {
      await other.end();
      statuses = (await Promise.all(asking)).flat();
    }
    for (const status of statuses) expect([200, 429]).toContain(status); // 429: had to wait for too long
  }));

describe('queries of one organization by many of its members', () => {
  const TOO_MANY = { error: { type: 'rate_limited', message: 'too many concurrent usage queries' } };

  /** Asks by as many members as queries may run, and by another owner, while all queries wait for a lock. */
  async function askAtOnce(members: readonly Agent[], path: string, other: Agent) {
    const blocker = await connect(app.database);
    await blocker.query('BEGIN; LOCK TABLE usage_rollups, usage_records IN ACCESS EXCLUSIVE MODE');
    const asking = inParallel(60, async (i) => members[i % 5]!.get(path));
    let others: Promise<number[]> | undefined;
    try {
      await lockedOut(app.database, 3);
      others = inParallel(2, async () => (await other.get('/me/usage')).status);
      await lockedOut(app.database, 5);
      const { rowCount } = await blocker.query(`SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`);
      expect(rowCount).toBe(5);
    } finally {
      await blocker.end();
      await Promise.all([asking, others]);
    }
    return { answers: await asking, others: await others };
  }

  it('leave slots to others, and are rejected with 429 when there are too many', async () => {
    const team = await teamOwner(app);
    const members = [team.admin];
    for (const name of ['one', 'two', 'three', 'four']) members.push(await join(app, team, name, 'member'));
    const other = await personalOwner(app);
    await withinWindow(QUERY_TIMEOUT_MS, async () => {
      const { answers, others } = await askAtOnce(members, `${team.base}/usage`, other.admin);
      expect(others).toEqual([200, 200]);
      const rejected = answers.filter(({ status }) => status !== 200);
      expect(rejected.length).toBeGreaterThanOrEqual(7);
      for (const { status, body, headers } of rejected) {
        expect([status, body]).toEqual([429, TOO_MANY]);
        expect(headers).toMatchObject({ 'retry-after': '5' });
      }
    });
  });
});

describe('groups', () => {
  it('are none where nothing is grouped', async () => {
    const { admin, base } = await teamOwner(app);
    const { body } = await admin.get(`${base}/usage`).query(MARCH).expect(200);
    expect(body.buckets).toHaveLength(31);
    for (const { groups } of body.buckets) expect(groups).toEqual([]);
  });

  it('have the names of today, and only members they are grouped by', async () => {
    const team = await teamOwner(app);
    const { body: key } = await team.admin.post(`${team.base}/keys`).send({ name: 'laptop' }).expect(201);
    const fields = { organization_id: team.organizationId, user_id: team.user, key_id: key.id };
    await recordAll(app, [
      usageRecord({ ...fields, at: '2026-03-01T10:00:00.000Z', upstream_id: 5, upstream_name: 'old' }),
      usageRecord({ ...fields, at: '2026-03-01T11:00:00.000Z', upstream_id: 5, upstream_name: 'new' }),
      usageRecord({ ...fields, at: '2026-03-01T12:00:00.000Z', key_id: 999_999, user_id: 'gone' }),
    ]);
    await team.admin.put(`/me/keys/${key.id}`).send({ name: 'desk' }).expect(200);
    await team.admin.delete(`/me/keys/${key.id}`).expect(204);
    const groups = async (names: string | string[], parameter = 'group_by') => {
      const query = { ...MARCH, bucket: 'month', [parameter]: names };
      const { body } = await team.admin.get(`${team.base}/usage`).query(query).expect(200);
      return body.buckets[0].groups as Record<string, unknown>[];
    };
    expect(await groups('upstream')).toEqual([
      expect.objectContaining({ upstream_id: 5, upstream_name: 'new', requests: 2 }),
      expect.objectContaining({ upstream_id: 1, upstream_name: 'main', requests: 1 }),
    ]);
    const [known, unknown] = await groups('key,user');
    expect(await groups(['key', 'user'], 'group_by[]')).toEqual([known, unknown]);
    expect(known).toMatchObject({ key_id: key.id, key_name: 'desk', user_id: team.user });
    expect(known!.user_email).toBe(`${team.user}@example.com`);
    expect(unknown).toMatchObject({ key_id: 999_999, key_name: null, user_id: 'gone', user_email: null });
    const [first] = await groups('status');
    expect(Object.keys(first!).slice(0, 2)).toEqual(['status', 'requests']);
    expect(first).not.toHaveProperty('model');
  });
});

describe('requests', () => {
  let team: TestOwner;
  const at = (second: number) => new Date(Date.UTC(2026, 2, 5, 12, 0, second)).toISOString();

  beforeAll(async () => {
    team = await teamOwner(app);
    const records = Array.from({ length: 25 }, (_, i) =>
      usageRecord({
        at: at(Math.floor(i / 5)),
        organization_id: team.organizationId,
        status: i % 2 ? 200 : 500,
      }),
    );
    await recordAll(app, records);
  });

  it('have all the attempts and whole names that an earlier version has recorded', async () => {
    const [attempt] = usageRecord().attempts;
    const upstream_name = '😀'.repeat(255);
    const attempts = Array.from({ length: 1_000 }, () => ({ ...attempt!, upstream_name }));
    const fields = { organization_id: team.organizationId, upstream_name, attempts };
    const given = usageRecord({ at: '2026-03-08T00:00:00.000Z', ...fields });
    await recordAll(app, [given]);
    const query = { from: '2026-03-08', to: '2026-03-09' };
    const { body } = await team.admin.get(`${team.base}/usage/requests`).query(query).expect(200);
    expect(body).toEqual({ requests: [given], next_cursor: null });
  });

  it('are as they were recorded', async () => {
    const given = usageRecord({ at: '2026-03-06T00:00:00.000Z', organization_id: team.organizationId });
    await recordAll(app, [given]);
    const query = { from: '2026-03-06', to: '2026-03-07' };
    const { body } = await team.admin.get(`${team.base}/usage/requests`).query(query).expect(200);
    expect(body).toEqual({ requests: [given], next_cursor: null });
    expect(Object.keys(body.requests[0])).toEqual([
      ...['id', 'request_id', 'at', 'organization_id', 'user_id', 'key_id', 'upstream_id', 'upstream_name'],
      ...['provider', 'method', 'path', 'model', 'stream', 'status', 'outcome', 'input_tokens'],
      ...['cached_input_tokens', 'output_tokens', 'total_tokens', 'usage_source', 'latency_ms', 'ttft_ms'],
      ...['attempts', 'cache_write_tokens', 'reasoning_tokens', 'upstream_model', 'cost_usd', 'price_source'],
    ]);
  });

  it('come in pages, newest first, each once though more are added', async () => {
    const seen: { id: string; at: string }[] = [];
    let cursor: string | undefined;
    do {
      const query = { from: '2026-03-05', to: '2026-03-06', limit: 7, cursor };
      const { body } = await team.admin.get(`${team.base}/usage/requests`).query(query).expect(200);
      seen.push(...body.requests);
      cursor = body.next_cursor ?? undefined;
      await recordAll(app, [usageRecord({ at: at(50), organization_id: team.organizationId })]);
    } while (cursor !== undefined);
    expect(seen).toHaveLength(25);
    expect(new Set(seen.map(({ id }) => id)).size).toBe(25);
    expect(seen.map((record) => record.at)).toEqual(
      seen
        .map((record) => record.at)
        .toSorted()
        .reverse(),
    );
  });

  it.each([
    ['JSON', 'application/json'],
    ['CSV', 'text/csv'],
  ])('end a page of %s before 4 MiB, after one at least, and miss none', async (_format, accept) => {
    const mib = 1024 * 1024;
    const { admin, base, organizationId } = await teamOwner(app);
    const attempt = {
      ...{ upstream_id: 1, upstream_name: 'main', status: 500, ms: 1 },
      // Two bytes each as JSON, three as JSON in CSV: the backslash stays one.
      error: '"'.repeat(0.125 * mib),
    };
    const sizes = [1, 20, 1, 2, 20, ...Array<number>(16).fill(1)];
    const records = sizes.map((size, second) =>
      usageRecord({
        at: at(100 + second),
        organization_id: organizationId,
        attempts: Array(size).fill(attempt),
      }),
    );
    await recordAll(app, records);
    const seen: string[] = [];
    const pages: number[] = [];
    const query = 'from=2026-03-05&to=2026-03-06&limit=200';
    for (let url: string | undefined = `${base}/usage/requests?${query}`; url !== undefined;) {
      const { text, headers } = await admin.get(url).set('Accept', accept).expect(200);
      const shown = records.map(({ id }) => id).filter((id) => text.includes(id));
      expect(shown.length === 1 || Buffer.byteLength(text) <= 4 * mib).toBe(true);
      seen.push(...shown.toReversed());
      pages.push(shown.length);
      const next = /<(.+)>; rel="next"/.exec(headers.link ?? '');
      url = next ? next[1]!.replace(PUBLIC_URL, '') : undefined;
    }
    expect(seen).toEqual(records.map(({ id }) => id).toReversed());
    expect(pages.filter((count) => count === 1).length).toBeGreaterThanOrEqual(2);
    expect(pages[0]).toBe(accept === 'text/csv' ? 10 : 15);
  });

  it('can be filtered', async () => {
    const query = { from: '2026-03-05', to: at(5), status: 500 };
    const { body } = await team.admin.get(`${team.base}/usage/requests`).query(query).expect(200);
    expect(body.requests).toHaveLength(13);
  });

  it.each([
    'limit=0',
    'limit=201',
    'limit=x',
    'cursor=x',
    'cursor=',
    `cursor=${btoa('2026-99-99T00:00:00.000Z x')}`,
    `cursor=${btoa(`2026-02-31T00:00:00.000Z ${NO_ID}`)}`,
    `cursor=${btoa(`0000-01-01T00:00:00.000Z ${NO_ID}`)}`,
  ])('%s is rejected', async (query) => {
    expect((await team.admin.get(`${team.base}/usage/requests?${query}`).expect(400)).body).toEqual(UNTYPED);
  });

  it('have no buckets and no groups, whatever the address says of them', () =>
    team.admin.get(`${team.base}/usage/requests?bucket=week&group_by=colour`).expect(200));
});

describe('CSV', () => {
  let team: TestOwner;
  const csv = (path: string, query: object) =>
    team.admin.get(`${team.base}/${path}`).set('Accept', 'text/csv').query(query).expect(200);

  beforeAll(async () => {
    team = await teamOwner(app);
    const fields = {
      organization_id: team.organizationId,
      user_id: team.user,
      latency_ms: 100,
      ttft_ms: null,
    };
    await recordAll(app, [
      usageRecord({ ...fields, at: '2026-03-01T10:00:00.000Z', model: '=cmd()', input_tokens: null }),
      usageRecord({ ...fields, at: '2026-03-01T11:00:00.000Z', model: 'a,"b"\nc' }),
      usageRecord({ ...fields, at: '2026-05-04T11:00:00.000Z', model: 'a\n=cmd()' }),
      usageRecord({ ...fields, at: '2026-05-04T12:00:00.000Z', model: 'a\r=cmd()' }),
    ]);
  });

  it('has a row for each bucket', async () => {
    const { text, headers } = await csv('usage', { from: '2026-03-01', to: '2026-03-03' });
    expect(headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(headers.vary).toContain('Accept');
    expect(text).toBe(
      'start,end,requests,errors,input_tokens,cached_input_tokens,output_tokens,total_tokens,' +
        'latency_ms_avg,latency_ms_p50,latency_ms_p95,ttft_ms_avg,ttft_ms_p50,ttft_ms_p95,' +
        'cache_write_tokens,reasoning_tokens,cost_usd,unpriced_requests\r\n' +
        '2026-03-01T00:00:00.000Z,2026-03-02T00:00:00.000Z,2,0,10,0,10,30,100,100.308,100.308,,,,,,0.0002,0\r\n' +
        '2026-03-02T00:00:00.000Z,2026-03-03T00:00:00.000Z,0,0,,,,,,,,,,,,,,0\r\n',
    );
  });

  it('has a row for each group, and no text that a spreadsheet would run', async () => {
    const { text } = await csv('usage', { from: '2026-03-01', to: '2026-03-02', group_by: 'model,user' });
    expect(text.split('\r\n')[0]).toMatch(/^start,end,model,user_id,user_email,requests,/);
    expect(text).toContain(`,'=cmd(),${team.user},`);
    expect(text).toContain(`,"a,""b""\nc",${team.user},`);
  });

  it.each([
    ...['=1', '+1', '-1', '@x', ' =1', '   +1', '\t-1', '\r\n@x', '\n=1', '\u00a0=1', '\u3000+1', '\ufeff=1'],
    ...['\u200b=1', ' \u0001=1', '＝1', ' ＠x', '\tx', '\rx'],
  ])('has an apostrophe before the text %j', async (model) => {
    const owner = await teamOwner(app);
    const ids = { organization_id: owner.organizationId, user_id: owner.user };
    await recordAll(app, [usageRecord({ ...ids, at: '2026-03-01T10:00:00.000Z', model })]);
    for (const path of ['usage?group_by=model&', 'usage/requests?']) {
      const url = `${owner.base}/${path}from=2026-03-01&to=2026-03-02`;
      const { text } = await owner.admin.get(url).set('Accept', 'text/csv').expect(200);
      expect(text.replaceAll('"', '')).toContain(`,'${model},`);
    }
  });

  it.each(['a =1', ' a', 'a-b', '(=1)'])('has the text %j as it is', async (model) => {
    const owner = await teamOwner(app);
    const ids = { organization_id: owner.organizationId, user_id: owner.user };
    await recordAll(app, [usageRecord({ ...ids, at: '2026-03-01T10:00:00.000Z', model })]);
    const url = `${owner.base}/usage?group_by=model&from=2026-03-01&to=2026-03-02`;
    const { text } = await owner.admin.get(url).set('Accept', 'text/csv').expect(200);
    expect(text).toContain(`,${model},`);
  });

  it('keeps a text with a line end in one row', async () => {
    const query = { from: '2026-05-04', to: '2026-05-05' };
    const sums = await csv('usage', { ...query, group_by: 'model' });
    const records = await csv('usage/requests', query);
    for (const { text } of [sums, records]) {
      expect(text.split('\r\n')).toHaveLength(4);
      expect(text).toContain(',"a\n=cmd()",');
      expect(text).toContain(',"a\r=cmd()",');
    }
  });

  it('has the requests, with the address of the next page', async () => {
    const query = { ...MARCH, limit: 1 };
    const { text, headers } = await csv('usage/requests', query);
    const [, next = ''] = /^<([^>]+)>; rel="next"$/.exec(headers.link!) ?? [];
    expect(text.split('\r\n')).toHaveLength(3);
    expect(text).toMatch(/^id,request_id,at,.*,attempts,cache_write_tokens,.*,price_source\r\n/);
    expect(next).toContain(`${PUBLIC_URL}${team.base}/usage/requests?`);
    const path = next.slice(PUBLIC_URL.length);
    const second = await team.admin.get(path).set('Accept', 'text/csv').expect(200);
    expect(second.text).toContain(`'=cmd()`);
    expect(second.text).toContain(`"[{""upstream_id"":1,`);
    expect(second.headers.link).toBeUndefined();
  });

  it.each([
    ...['*/*', 'application/json', 'text/html', 'text/csv;q=0.5, application/json'],
    ...['application/json; charset=utf-8, text/csv', 'text/csv; charset=utf-16'],
  ])('is not for who accepts %s', async (accept) => {
    const { headers } = await team.admin.get(`${team.base}/usage`).set('Accept', accept).expect(200);
    expect(headers['content-type']).toContain('application/json');
  });

  it.each(['text/csv; charset=utf-8', 'text/csv;charset=UTF-8, application/json;q=0.9'])(
    'is for who accepts %s',
    async (accept) => {
      const { headers } = await team.admin.get(`${team.base}/usage`).set('Accept', accept).expect(200);
      expect(headers['content-type']).toBe('text/csv; charset=utf-8');
    },
  );
});
