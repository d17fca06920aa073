import { startApp } from '../support/app.js';
import type { Agent, TestApp } from '../support/app.js';
import { connect, lockedOut } from '../support/database.js';
import { expire } from '../support/invitations.js';
import { invite, join, personalOwner, teamOwner } from '../support/owners.js';
import type { TestOwner } from '../support/owners.js';
import { inParallel } from '../support/parallel.js';
import { plansOf } from '../support/plans.js';
import { emailOf } from '../support/sessions.js';

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

interface Event {
  readonly id: number;
  readonly at: string;
  readonly actor: { user_id: string; email: string } | null;
  readonly action: string;
  readonly target: Record<string, unknown>;
  readonly details: Record<string, unknown>;
}

let app: TestApp;
let team: TestOwner;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await teamOwner(app);
});

const actor = (user: string) => ({ user_id: user, email: emailOf(user) });
const member = (user: string) => ({ type: 'member', ...actor(user) });

async function page(query = '', { admin, base } = team): Promise<{ events: Event[]; next_cursor: string }> {
  return (await admin.get(`${base}/audit${query}`).expect(200)).body;
}

/** Returns the events that `work` adds to the audit trail, newest first. */
async function traceOf(work: () => Promise<unknown>, owner = team): Promise<Omit<Event, 'id' | 'at'>[]> {
  const [{ events: before }] = [await page('?limit=200', owner)];
  await work();
  const { events } = await page('?limit=200', owner);
  return events
    .slice(0, events.length - before.length)
    .map(({ actor, action, target, details }) => ({ actor, action, target, details }));
}

/** Gives an invitation to `work` and tells what that adds to the trail. */
async function traceOnInvitation(work: (url: string, guest: Agent, id: number) => Promise<unknown>) {
  const { id } = await invite(team, 'gus@example.com');
  const guest = await app.as('gus');
  return { id, trace: await traceOf(() => work(`${team.base}/invitations/${id}`, guest, id)) };
}

describe('the audit trail records', () => {
  it('organization.created', async () => {
    const { slug, created_at } = (await team.admin.get(team.base)).body;
    const { events } = await page();
    expect(events).toEqual([
      {
        id: expect.any(Number),
        at: expect.stringMatching(ISO_TIME),
        actor: actor(team.user),
        action: 'organization.created',
        target: { type: 'organization', id: team.organizationId },
        details: { name: 'Acme', slug },
      },
    ]);
    expect(events[0]!.at >= created_at).toBe(true);
  });

  it('organization.renamed', async () => {
    expect(await traceOf(() => team.admin.put(team.base).send({ name: ' Emca ' }).expect(200))).toEqual([
      {
        actor: actor(team.user),
        action: 'organization.renamed',
        target: { type: 'organization', id: team.organizationId },
        details: { from: 'Acme', to: 'Emca' },
      },
    ]);
  });

  it('invitation.created and member.joined', async () => {
    const trace = await traceOf(() => join(app, team, 'joe', 'admin'));
    const id = expect.any(Number) as number;
    expect(trace).toEqual([
      { actor: actor('joe'), action: 'member.joined', target: member('joe'), details: { role: 'admin' } },
      {
        actor: actor(team.user),
        action: 'invitation.created',
        target: { type: 'invitation', id, email: 'joe@example.com' },
        details: { role: 'admin' },
      },
    ]);
  });

  it('invitation.resent', async () => {
    const { id, trace } = await traceOnInvitation((url) => team.admin.post(`${url}/resend`).expect(200));
    const target = { type: 'invitation', id, email: 'gus@example.com' };
    expect(trace).toEqual([
      { actor: actor(team.user), action: 'invitation.resent', target, details: { role: 'member' } },
    ]);
  });

  it('invitation.cancelled, once', async () => {
    const { id, trace } = await traceOnInvitation(async (url) => {
      for (let i = 0; i < 3; i++) await team.admin.delete(url).expect(204);
    });
    const target = { type: 'invitation', id, email: 'gus@example.com' };
    expect(trace).toEqual([
      { actor: actor(team.user), action: 'invitation.cancelled', target, details: { role: 'member' } },
    ]);
  });

  it('invitation.declined', async () => {
    const { id, trace } = await traceOnInvitation((_url, guest, own) =>
      guest.post(`/me/invitations/${own}/decline`).expect(204),
    );
    const target = { type: 'invitation', id, email: 'gus@example.com' };
    expect(trace).toEqual([
      { actor: actor('gus'), action: 'invitation.declined', target, details: { role: 'member' } },
    ]);
  });

  it('member.role_changed, by an admin or by an invitation', async () => {
    await join(app, team, 'moe', 'member');
    const change = (role: string) => team.admin.put(`${team.base}/members/moe`).send({ role }).expect(200);
    const trace = await traceOf(async () => {
      await change('admin');
      await change('admin');
      await change('member');
      const { token } = await invite(team, 'moe@new.example.com', 'admin');
      const moe = await app.as('moe', { email: 'moe@new.example.com' });
      await moe.post('/me/invitations/accept').send({ token }).expect(200);
    });
    const action = 'member.role_changed';
    const now = { user_id: 'moe', email: 'moe@new.example.com' };
    expect(trace).toEqual([
      { actor: now, action, target: { type: 'member', ...now }, details: { from: 'member', to: 'admin' } },
      expect.objectContaining({ action: 'invitation.created' }),
      { actor: actor(team.user), action, target: member('moe'), details: { from: 'admin', to: 'member' } },
      { actor: actor(team.user), action, target: member('moe'), details: { from: 'member', to: 'admin' } },
    ]);
  });

  it('member.left, with the number of revoked keys', async () => {
    const joe = await join(app, team, 'joe', 'member');
    for (let i = 0; i < 2; i++) await joe.post(`${team.base}/keys`).expect(201);
    expect(await traceOf(() => joe.delete(`${team.base}/members/me`).expect(200))).toEqual([
      { actor: actor('joe'), action: 'member.left', target: member('joe'), details: { revoked_keys: 2 } },
    ]);
  });

  it('member.removed, with the number of revoked keys', async () => {
    const joe = await join(app, team, 'joe', 'admin');
    await joe.post(`${team.base}/keys`).expect(201);
    expect(await traceOf(() => team.admin.delete(`${team.base}/members/joe`).expect(200))).toEqual([
      {
        actor: actor(team.user),
        action: 'member.removed',
        target: member('joe'),
        details: { revoked_keys: 1 },
      },
    ]);
  });

  it('key.minted, key.renamed and key.revoked', async () => {
    const joe = await join(app, team, 'joe', 'member');
    let id: number | undefined;
    const trace = await traceOf(async () => {
      ({ id } = (await joe.post(`${team.base}/keys`).send({ name: 'laptop' }).expect(201)).body);
      for (let i = 0; i < 2; i++) await joe.put(`/me/keys/${id}`).send({ name: 'ci' }).expect(200);
      for (let i = 0; i < 2; i++) await team.admin.delete(`${team.base}/keys/${id}`).expect(204);
    });
    const target = { type: 'key', id, name: 'ci', user_id: 'joe' };
    expect(trace).toEqual([
      { actor: actor(team.user), action: 'key.revoked', target, details: {} },
      { actor: actor('joe'), action: 'key.renamed', target, details: { from: 'laptop', to: 'ci' } },
      {
        ...{ actor: actor('joe'), action: 'key.minted', target: { ...target, name: 'laptop' } },
        details: { source: 'dashboard' },
      },
    ]);
  });

  it('key.renamed, with the previous name', async () => {
    const { body: key } = await team.admin.post(`${team.base}/keys`).send({ name: 'old' }).expect(201);
    const holder = await connect(app.database);
    try {
      await holder.query('BEGIN');
      await holder.query(`UPDATE proxy_keys SET name = 'meanwhile' WHERE id = $1`, [key.id]);
      const renaming = team.admin.put(`/me/keys/${key.id}`).send({ name: 'new' }).expect(200).then();
      await lockedOut(app.database, 1);
      await holder.query('COMMIT');
      await renaming;
    } finally {
      await holder.end();
    }
    expect((await page()).events[0]!.details).toEqual({ from: 'meanwhile', to: 'new' });
  });

  it('upstream.created, upstream.updated and upstream.deleted, without API keys', async () => {
    let id: number | undefined;
    const shown = { name: 'u', base_url: 'https://1.1.1.1/v1', priority: 100, enabled: true };
    const trace = await traceOf(async () => {
      const body = { ...shown, api_key: 'sk-of-the-upstream' };
      ({ id } = (await team.admin.post(`${team.base}/upstreams`).send(body).expect(201)).body);
      const url = `${team.base}/upstreams/${id}`;
      await team.admin.put(url).send({ enabled: false, api_key: 'sk-another-one' }).expect(200);
      await team.admin.put(url).send({ enabled: false }).expect(200);
      await team.admin.delete(url).expect(204);
    });
    const entry = { actor: actor(team.user), target: { type: 'upstream', id, name: 'u' } };
    expect(trace).toEqual([
      { ...entry, action: 'upstream.deleted', details: {} },
      { ...entry, action: 'upstream.updated', details: { enabled: false, api_key: 'changed' } },
      { ...entry, action: 'upstream.created', details: { ...shown, provider: 'custom' } },
    ]);
  });

  it('events in the order of their times, also after lock waits', async () => {
    const { body: upstream } = await team.admin
      .post(`${team.base}/upstreams`)
      .send({ name: 'u', base_url: 'https://1.1.1.1/v1', api_key: 'sk-of-the-upstream' })
      .expect(201);
    const holder = await connect(app.database);
    try {
      await holder.query('BEGIN');
      await holder.query('SELECT 1 FROM upstreams WHERE id = $1 FOR UPDATE', [upstream.id]);
      const url = `${team.base}/upstreams/${upstream.id}`;
      const renaming = team.admin.put(url).send({ name: 'v' }).expect(200).then();
      await lockedOut(app.database, 1);
      await team.admin.post(`${team.base}/keys`).expect(201);
      await holder.query('COMMIT');
      await renaming;
    } finally {
      await holder.end();
    }
    const { events } = await page();
    expect(events.slice(0, 2).map(({ action }) => action)).toEqual(['upstream.updated', 'key.minted']);
    const times = events.map(({ at }) => at);
    expect(times).toEqual(times.toSorted().toReversed());
  });

  it('values of the time of the action, also after names, addresses and roles change', async () => {
    await join(app, team, 'zoe', 'member');
    const { events: before } = await page();
    await (await app.as('zoe', { email: 'zoe@other.example.com' })).get(team.base).expect(200);
    await team.admin.delete(`${team.base}/members/zoe`).expect(200);
    const { events } = await page();
    expect(events.slice(1)).toEqual(before);
  });
});

describe('the audit trail', () => {
  it('is read through an index, whatever other organizations do', async () => {
    const others = await inParallel(8, () => teamOwner(app));
    await app.database.query(
      `INSERT INTO audit_events (organization_id, action, target, details)
       SELECT CASE WHEN i % 2 = 1 AND i <= 8000 THEN $1 ELSE ($2::bigint[])[1 + i % 8] END, 'key.minted', '{}', '{}'
       FROM generate_series(1, 20000) AS i`,
      [team.organizationId, others.map(({ organizationId }) => organizationId)],
    );
    await app.database.query('ANALYZE audit_events');
    const plans = (await plansOf(app, () => page())).filter((plan) => plan.includes('audit_events'));
    expect(plans).toHaveLength(1);
    const [, scan] = plans[0]!.split('audit_events_pkey on audit_events');
    expect(scan).not.toContain('Filter');
    expect(plans[0]).not.toContain('Sort ');
    expect((await page()).events).toHaveLength(50);
  });

  it('omits rejected requests and requests that change nothing', async () => {
    const joe = await join(app, team, 'joe', 'member');
    const { body: before } = await team.admin.get(team.base);
    const used = await invite(team, 'gus@example.com');
    const gus = await app.as('gus');
    await gus.post('/me/invitations/accept').send({ token: used.token }).expect(200);
    const [pending, expired] = [await invite(team, 'a@example.com'), await invite(team, 'b@example.com')];
    await expire(app.database, expired.id);
    const stranger = await app.as('stranger');
    const url = team.base;
    const trace = await traceOf(async () => {
      for (const [request, status] of [
        [team.admin.put(url).send({ name: before.name, slug: before.slug }), 200],
        [team.admin.put(url).send({}), 200],
        [team.admin.put(url).send({ name: '' }), 400],
        [team.admin.put(url).send({ name: 'x', slug: 'other' }), 400],
        [joe.put(url).send({ name: 'x' }), 403],
        [stranger.put(url).send({ name: 'x' }), 404],
        [team.admin.delete(url).set('X-Confirm-Slug', 'wrong'), 409],
        [joe.delete(url), 403],
        [team.admin.put(`${url}/members/joe`).send({ role: 'member' }), 200],
        [team.admin.put(`${url}/members/joe`).send({ role: 'boss' }), 400],
        [team.admin.put(`${url}/members/me`).send({ role: 'member' }), 409],
        [team.admin.delete(`${url}/members/me`), 409],
        [team.admin.delete(`${url}/members/nobody`), 404],
        [joe.delete(`${url}/members/${team.user}`), 403],
        [team.admin.post(`${url}/invite`).send({ email: 'joe@example.com', role: 'member' }), 409],
        [team.admin.post(`${url}/invite`).send({ email: 'a@example.com', role: 'member' }), 409],
        [team.admin.post(`${url}/invite`).send({ email: 'x', role: 'member' }), 400],
        [team.admin.delete(`${url}/invitations/${expired.id}`), 409],
        [team.admin.post(`${url}/invitations/${used.id}/resend`), 409],
        [gus.post('/me/invitations/accept').send({ token: used.token }), 200],
        [joe.post('/me/invitations/accept').send({ token: pending.token }), 403],
        [gus.post(`/me/invitations/${pending.id}/decline`), 404],
        [joe.delete(`${url}/keys/999999`), 404],
        [joe.post(`${url}/keys`).send({ name: '' }), 400],
      ] as const) {
        await request.expect(status);
      }
    });
    expect(trace).toEqual([]);
  });

  it('contains no secrets', async () => {
    const { token, id } = await invite(team, 'gus@example.com');
    const { body: resent } = await team.admin.post(`${team.base}/invitations/${id}/resend`).expect(200);
    const { body: key } = await team.admin.post(`${team.base}/keys`).expect(201);
    const stored = JSON.stringify(await app.database.query('SELECT * FROM audit_events'));
    const { text } = await team.admin.get(`${team.base}/audit`).expect(200);
    for (const secret of [token, resent.token, key.api_key]) {
      expect(stored).not.toContain(secret);
      expect(text).not.toContain(secret);
    }
  });

  it('is visible to admins only', async () => {
    const joe = await join(app, team, 'joe', 'member');
    const refusal = { error: { message: 'only admins can read the audit trail' } };
    await joe.get(`${team.base}/audit`).expect(403, refusal);
    await joe.get(`${team.base}/audit?limit=bad`).expect(403, refusal);
    const stranger = await app.as('stranger');
    await stranger.get(`${team.base}/audit`).expect(404, { error: { message: 'organization not found' } });
    await team.admin.put(`${team.base}/members/joe`).send({ role: 'admin' }).expect(200);
    await joe.get(`${team.base}/audit`).expect(200);
  });

  it('contains events of one organization only', async () => {
    const other = await teamOwner(app);
    await other.admin.put(other.base).send({ name: 'Other' }).expect(200);
    expect((await page()).events).toHaveLength(1);
    expect((await page('', other)).events).toHaveLength(2);
  });

  it('exists for a personal organization, too', async () => {
    const person = await personalOwner(app);
    const base = `/me/organizations/${person.organizationId}`;
    await person.admin.get(`${base}/audit`).expect(200, { events: [], next_cursor: null });
    const { body: key } = await person.admin.post('/me/keys').expect(201);
    const { events } = await page('', { ...person, base });
    expect(events).toMatchObject([{ action: 'key.minted', target: { id: key.id } }]);
  });
});

describe('pages', () => {
  const rename = (name: string) => team.admin.put(team.base).send({ name }).expect(200);
  const names = (events: Event[]) => events.map(({ details }) => details.to ?? details.name);

  beforeEach(async () => {
    for (let i = 1; i <= 6; i++) await rename(`name ${i}`);
  });

  async function walk(limit: number): Promise<Event[][]> {
    const pages = [];
    for (let query = `?limit=${limit}`; ;) {
      const { events, next_cursor } = await page(query);
      pages.push(events);
      if (next_cursor === null) return pages;
      query = `?limit=${limit}&cursor=${encodeURIComponent(next_cursor)}`;
    }
  }

  it.each([
    [1, [1, 1, 1, 1, 1, 1, 1]],
    [3, [3, 3, 1]],
    [6, [6, 1]],
    [7, [7]],
    [200, [7]],
  ])('contain %d events each and follow each other, newest first, until the end', async (limit, sizes) => {
    const pages = await walk(limit);
    expect(pages.map((events) => events.length)).toEqual(sizes);
    const expected = [6, 5, 4, 3, 2, 1].map((i) => `name ${i}`);
    expect(names(pages.flat())).toEqual([...expected, 'Acme']);
    const ids = pages.flat().map(({ id }) => id);
    expect(ids).toEqual([...ids].sort((a, b) => b - a));
  });

  it('stay stable when events are added', async () => {
    const { next_cursor } = await page('?limit=2');
    const { events: before } = await page(`?limit=2&cursor=${next_cursor}`);
    await rename('new');
    await inParallel(5, (i) => rename(`new ${i}`));
    expect((await page(`?limit=2&cursor=${next_cursor}`)).events).toEqual(before);
    expect(names(before)).toEqual(['name 4', 'name 3']);
  });

  it('contain 50 events by default', async () => {
    await app.database.query(
      `INSERT INTO audit_events (organization_id, action, target, details)
       SELECT $1, 'organization.renamed', '{}', '{}' FROM generate_series(1, 60)`,
      [team.organizationId],
    );
    const { events, next_cursor } = await page();
    expect(events).toHaveLength(50);
    expect(next_cursor).not.toBeNull();
    expect((await page('?limit=200')).events).toHaveLength(67);
    expect(events[0]!.actor).toBeNull();
  });

  it('end before 4 MiB, contain at least one event, and omit none', async () => {
    const sizes = [...[3, 2, 1, 1, 1.5, 5, 0.1, 9, 9, 2], ...Array<number>(30).fill(0.3)];
    await app.database.query(
      `INSERT INTO audit_events (organization_id, action, target, details)
       SELECT $1, 'key.renamed', '{}', jsonb_build_object('from', n, 'to', repeat(chr(8364), (size * 349525)::int))
       FROM unnest($2::float8[]) WITH ORDINALITY AS s (size, n) ORDER BY n`,
      [team.organizationId, sizes],
    );
    const pages = await walk(200);
    const numbers = pages.flat().map(({ details }) => details.from);
    expect(numbers.slice(0, sizes.length)).toEqual(sizes.map((_, i) => sizes.length - i));
    expect(numbers).toHaveLength(sizes.length + 7);
    const bytes = pages.map((events) => Buffer.byteLength(JSON.stringify({ events })));
    for (const [i, events] of pages.entries())
      expect(events.length === 1 || bytes[i]! <= 4 * 1024 * 1024).toBe(true);
    expect(pages.map((events) => events.length)).toEqual([13, 13, 5, 1, 1, 1, 1, 3, 1, 8]);
  });

  it('show no event of another organization, whose cursor they are read with', async () => {
    const other = await teamOwner(app);
    await other.admin.put(other.base).send({ name: 'Other' }).expect(200);
    const { next_cursor } = await page('?limit=1', other);
    const { events } = await page(`?cursor=${next_cursor}`);
    expect(events.every(({ target }) => target.id === team.organizationId)).toBe(true);
  });

  it.each(['0', '201', '-1', '1.5', '1e2', 'x', '', '010', '%201', '1&limit=2'])(
    'are not of a size limit=%s',
    async (limit) => {
      const { body } = await team.admin.get(`${team.base}/audit?limit=${limit}`).expect(400);
      expect(body).toEqual({ error: { message: expect.any(String) } });
    },
  );

  it.each(['', 'x', '1', '*', 'MA', 'LTE', 'MS41', 'MTIzNDU2Nzg5MDEyMzQ1Ng', 'MQ&cursor=MQ', '%00'])(
    'do not begin at cursor=%s',
    async (cursor) => {
      const { body } = await team.admin.get(`${team.base}/audit?cursor=${cursor}`).expect(400);
      expect(body).toEqual({ error: { message: expect.any(String) } });
    },
  );
});
