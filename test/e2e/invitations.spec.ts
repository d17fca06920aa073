import { hash } from 'node:crypto';
import { InvitationExpiry } from '../../src/invitations/invitation-expiry.js';
import { startApp } from '../support/app.js';
import type { Agent, TestApp } from '../support/app.js';
import { dump, limitRows, unlimitRows } from '../support/database.js';
import { expire, storedStatus } from '../support/invitations.js';
import { invite, join, personalOwner, teamOwner } from '../support/owners.js';
import type { TestOwner } from '../support/owners.js';
import { inParallel } from '../support/parallel.js';
import { plansOf } from '../support/plans.js';
import { holdBackJob } from '../support/scheduled-jobs.js';
import { emailOf } from '../support/sessions.js';

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const SEVEN_DAYS_MS = 7 * 24 * 3_600_000;
const typed = (type: string) => ({ error: { type, message: expect.any(String) } });

let app: TestApp;
let team: TestOwner;
let count = 0;

beforeAll(async () => {
  app = await startApp({ DASHBOARD_URL: 'https://app.example.com/mintkeep/' });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await teamOwner(app);
});

const newUser = () => `guest-${++count}`;
const accept = (agent: Agent, token: string) => agent.post('/me/invitations/accept').send({ token });
const preview = (agent: Agent, token: string) => agent.post('/me/invitations/preview').send({ token });

/** Somebody who is invited, and the invitation. */
async function invited(role: 'admin' | 'member' = 'member') {
  const user = newUser();
  const invitation = await invite(team, emailOf(user), role);
  const url = `${team.base}/invitations/${invitation.id}`;
  return { user, guest: await app.as(user), url, own: `/me/invitations/${invitation.id}`, ...invitation };
}

async function listed(query = ''): Promise<Record<string, unknown>[]> {
  return (await team.admin.get(`${team.base}/invitations${query}`).expect(200)).body.invitations;
}

async function statusOf(id: number): Promise<unknown> {
  return (await listed()).find((invitation) => invitation.id === id)?.status;
}

async function roles(): Promise<Record<string, string>> {
  const { body } = await team.admin.get(`${team.base}/members`).expect(200);
  return Object.fromEntries(body.members.map((m: { user_id: string; role: string }) => [m.user_id, m.role]));
}

/** Many invitations that have expired, and as many that have not; then what PostgreSQL knows of them. */
async function fill(expired: number, pending: number): Promise<void> {
  await app.database.query(
    `INSERT INTO invitations (organization_id, organization_name, organization_slug, email, email_key, role, status,
       token_sha256, invited_by_user_id, invited_by_email, email_delivery, expires_at)
     SELECT $1::bigint, '', '', i, i, 'member', 'pending', sha256(('of ' || i)::bytea), '', '', 'disabled',
       now() + CASE WHEN i <= $2 THEN -1 ELSE 1 END * interval '1 hour'
     FROM generate_series(1, $2::int + $3::int) AS i`,
    [team.organizationId, expired, pending],
  );
  await app.database.query('ANALYZE invitations');
}

describe('POST invite', () => {
  it('finds the address by an index, not by a scan of all users', async () => {
    await app.database.query(
      `INSERT INTO users (id, email, email_key)
       SELECT 'crowd-' || i, 'crowd-' || i, 'crowd-' || i FROM generate_series(1, 20000) AS i`,
    );
    await app.database.query(
      `INSERT INTO memberships (organization_id, user_id, role)
       SELECT $1, 'crowd-' || i, 'member' FROM generate_series(1, 5000) AS i`,
      [team.organizationId],
    );
    await app.database.query('ANALYZE users, memberships');
    const plans = await plansOf(app, () => invite(team, emailOf(newUser())));
    expect(plans.filter((plan) => plan.includes('users_email_key_idx'))).toHaveLength(1);
    expect(plans.join()).not.toContain('Seq Scan on users');
    await app.database.query(`DELETE FROM users WHERE id LIKE 'crowd-%'`);
  });

  it('returns the invitation with its token, which no other response contains', async () => {
    const { body, headers } = await team.admin
      .post(`${team.base}/invite`)
      .send({ email: ' Ann.Other@Example.com\u00a0', role: 'admin', status: 'accepted' })
      .expect(201);
    expect(headers['cache-control']).toBe('no-store');
    const { token, join_url, ...invitation } = body;
    expect(invitation).toEqual({
      id: expect.any(Number),
      organization_id: team.organizationId,
      email: 'Ann.Other@Example.com',
      role: 'admin',
      status: 'pending',
      invited_by: { user_id: team.user, email: emailOf(team.user) },
      created_at: expect.stringMatching(ISO_TIME),
      expires_at: expect.stringMatching(ISO_TIME),
      accepted_at: null,
      cancelled_at: null,
    });
    expect(Date.parse(invitation.expires_at) - Date.parse(invitation.created_at)).toBe(SEVEN_DAYS_MS);
    expect(Buffer.from(token, 'base64url')).toHaveLength(32);
    expect(join_url).toBe(`https://app.example.com/mintkeep/join?token=${token}`);
    expect(await listed()).toEqual([invitation]);
  });

  it('stores only the hash of the token', async () => {
    const { token, id, guest } = await invited();
    const { body } = await team.admin.post(`${team.base}/invitations/${id}/resend`).expect(200);
    await accept(guest, body.token).expect(200);
    const everything = await dump(app.database);
    for (const secret of [token, body.token]) {
      expect(everything).not.toContain(secret);
      expect(everything).not.toContain(Buffer.from(secret).toString('hex'));
      expect(everything).not.toContain(Buffer.from(secret, 'base64url').toString('hex'));
    }
    expect(everything).toContain(hash('sha256', body.token));
    expect(everything).not.toContain(hash('sha256', token));
  });

  it('never creates the same token twice', async () => {
    const tokens = await inParallel(20, async () => (await invited()).token);
    expect(new Set(tokens).size).toBe(20);
  });

  it('accepts addresses of up to 254 characters, as the OpenAPI document says', async () => {
    const { body } = await app.anonymous.get('/openapi.json').expect(200);
    const { maxLength } = body.components.schemas.Invite.properties.email;
    const labels = `${'b'.repeat(55)}.`.repeat(4);
    const address = (length: number) => `ann@${labels}${'c'.repeat(length - labels.length - 8)}.com`;
    expect([maxLength, address(maxLength).length]).toEqual([254, 254]);
    const invite = (email: string) => team.admin.post(`${team.base}/invite`).send({ email, role: 'member' });
    await invite(address(maxLength + 1)).expect(400);
    const { body: invitation } = await invite(address(maxLength)).expect(201);
    await team.admin.delete(`${team.base}/invitations/${invitation.id}`).expect(204);
  });

  it.each([
    [{ role: 'member' }, 'invalid_email'],
    [{ email: null, role: 'member' }, 'invalid_email'],
    [{ email: '', role: 'member' }, 'invalid_email'],
    [{ email: 'ann', role: 'member' }, 'invalid_email'],
    [{ email: 'ann@', role: 'member' }, 'invalid_email'],
    [{ email: 'ann@example', role: 'member' }, 'invalid_email'],
    [{ email: 'a@example.com, b@example.com', role: 'member' }, 'invalid_email'],
    [{ email: 'a@example.com\nBcc: b@example.com', role: 'member' }, 'invalid_email'],
    [{ email: 'Ann <a@example.com>', role: 'member' }, 'invalid_email'],
    [{ email: 'a\0@example.com', role: 'member' }, 'invalid_email'],
    [{ email: '"a\r\nb"@example.com', role: 'member' }, 'invalid_email'],
    [{ email: '"a\tb"@example.com', role: 'member' }, 'invalid_email'],
    [{ email: '\ud800@example.com', role: 'member' }, 'invalid_email'],
    [{ email: `${'a'.repeat(65)}@example.com`, role: 'member' }, 'invalid_email'],
    [{ email: 7, role: 'member' }, 'invalid_email'],
    [{ email: ['a@example.com'], role: 'member' }, 'invalid_email'],
    [{ email: 'a@example.com' }, 'invalid_role'],
    [{ email: 'a@example.com', role: 'owner' }, 'invalid_role'],
    [{ email: 'a@example.com', role: 'Admin' }, 'invalid_role'],
    [{ email: 'a@example.com', role: null }, 'invalid_role'],
    [{ email: 'a@example.com', role: {} }, 'invalid_role'],
  ])('rejects %j', async (body, type) => {
    expect((await team.admin.post(`${team.base}/invite`).send(body).expect(400)).body).toEqual(typed(type));
    expect(await listed()).toEqual([]);
  });

  it.each([
    (email: string) => email,
    (email: string) => email.toUpperCase(),
    (email: string) => ` ${email}\n`,
  ])(
    'rejects members and invited users, whatever the case and the space around the address (%#)',
    async (written) => {
      const [member, guest] = [newUser(), newUser()];
      await join(app, team, member, 'member');
      await invite(team, emailOf(guest));
      for (const [user, type] of [
        [team.user, 'already_member'],
        [member, 'already_member'],
        [guest, 'invitation_pending'],
      ] as const) {
        const body = { email: written(emailOf(user)), role: 'admin' };
        const { body: answer } = await team.admin.post(`${team.base}/invite`).send(body).expect(409);
        expect(answer).toEqual(typed(type));
      }
      expect(await listed('?status=pending')).toHaveLength(1);
    },
  );

  it('compares with the current address of a member', async () => {
    const user = newUser();
    await join(app, team, user, 'member');
    const moved = await app.as(user, { email: `${user}@new.example.com` });
    await moved.get(team.base).expect(200);
    const asked = (email: string) => team.admin.post(`${team.base}/invite`).send({ email, role: 'member' });
    expect((await asked(`${user}@new.example.com`).expect(409)).body).toEqual(typed('already_member'));
    await asked(emailOf(user)).expect(201);
  });

  it('allows invitations of one address to several teams', async () => {
    const other = await teamOwner(app);
    const { guest, token } = await invited();
    const { token: second } = await invite(other, emailOf(`guest-${count}`), 'admin');
    await accept(guest, token).expect(200);
    await accept(guest, second).expect(200);
    expect((await guest.get('/me/organizations')).body.organizations).toHaveLength(3);
  });

  it('rejects members before it checks the body', async () => {
    const member = await join(app, team, newUser(), 'member');
    const { url } = await invited();
    for (const [request, what] of [
      [member.post(`${team.base}/invite`).send('not JSON'), 'invite members'],
      [member.get(`${team.base}/invitations?status=bad`), 'list invitations'],
      [member.delete(url), 'cancel invitations'],
      [member.post(`${url}/resend`), 'resend invitations'],
    ] as const) {
      await request.expect(403, { error: { message: `only admins can ${what}` } });
    }
  });

  it('rejects personal organizations', async () => {
    const person = await personalOwner(app);
    const url = `/me/organizations/${person.organizationId}`;
    const body = { email: emailOf(person.user), role: 'member' };
    expect((await person.admin.post(`${url}/invite`).send(body).expect(409)).body).toEqual(
      typed('personal_organization'),
    );
    await person.admin.get(`${url}/invitations`).expect(200, { invitations: [] });
  });
});

describe('an expired invitation', () => {
  let job: Awaited<ReturnType<typeof holdBackJob>>;

  beforeAll(async () => {
    job = await holdBackJob(app.database, 'expire_invitations');
  });
  afterAll(() => job.end());

  it('has the status expired at once in every response', async () => {
    const { id, token, guest, own, url } = await invited();
    await expire(app.database, id);
    expect(await storedStatus(app.database, id)).toBe('pending');
    expect(await statusOf(id)).toBe('expired');
    expect((await preview(guest, token).expect(200)).body.status).toBe('expired');
    await guest.get('/me/invitations').expect(200, { invitations: [] });
    for (const refused of [accept(guest, token), guest.post(`${own}/accept`), guest.post(`${own}/decline`)]) {
      expect((await refused.expect(410)).body).toEqual(typed('invitation_expired'));
    }
    for (const refused of [team.admin.delete(url), team.admin.post(`${url}/resend`)]) {
      expect((await refused.expect(409)).body).toEqual(typed('invitation_not_pending'));
    }
    expect(await roles()).toEqual({ [team.user]: 'admin' });
  });

  it.each(['before', 'after'])('does not block a new one %s the job has run', async (when) => {
    const { id, email, guest, token } = await invited();
    await expire(app.database, id);
    if (when === 'after') await app.app.get(InvitationExpiry).run();
    const again = await invite(team, email);
    expect(again.id).not.toBe(id);
    expect((await listed()).map(({ status }) => status)).toEqual(['expired', 'pending']);
    await accept(guest, token).expect(410);
    await accept(guest, again.token).expect(200);
  });

  it('is stored as expired by the job, which changes no other invitation', async () => {
    const [due, pending, accepted, cancelled] = [
      await invited(),
      await invited(),
      await invited(),
      await invited(),
    ];
    await accept(accepted.guest, accepted.token).expect(200);
    await team.admin.delete(cancelled.url).expect(204);
    await expire(app.database, due.id, accepted.id, cancelled.id);
    const before = await listed();
    expect(await app.app.get(InvitationExpiry).run()).toBe(1);
    expect(await app.app.get(InvitationExpiry).run()).toBe(0);
    expect(await listed()).toEqual(before);
    const stored = await Promise.all(
      [due, pending, accepted, cancelled].map(({ id }) => storedStatus(app.database, id)),
    );
    expect(stored).toEqual(['expired', 'pending', 'accepted', 'cancelled']);
  });

  it('is found by the job through an index', async () => {
    await fill(0, 20_000);
    const all = await plansOf(app, () => app.app.get(InvitationExpiry).run());
    const plans = all.filter((plan) => plan.includes('on invitations')); // other jobs may run meanwhile
    expect(plans).toHaveLength(1);
    expect(plans[0]).not.toContain('Seq Scan');
    await app.database.query('DELETE FROM invitations');
  });

  it('is stored in batches of bounded size', async () => {
    await fill(20_001, 0);
    await limitRows(app.database, 'UPDATE', 'invitations');
    expect(await app.app.get(InvitationExpiry).run()).toBe(20_001);
    await unlimitRows(app.database);
    await app.database.query('DELETE FROM invitations');
  });

  it('is stored once when two replicas run the job at the same time', async () => {
    const replica = await startApp({}, { database: app.database });
    try {
      const jobs = [app, replica].map((one) => one.app.get(InvitationExpiry));
      for (let round = 0; round < 5; round++) {
        const due = await inParallel(20, () => invited());
        await expire(app.database, ...due.map(({ id }) => id));
        const counts = await Promise.all([...jobs, ...jobs].map((job) => job.run()));
        expect(counts.reduce((sum, n) => sum + n)).toBe(20);
        expect(await Promise.all(due.map(({ id }) => storedStatus(app.database, id)))).toEqual(
          due.map(() => 'expired'),
        );
      }
    } finally {
      await replica.close();
    }
  });
});

describe('the list of an organization', () => {
  it('lists all by id, or only the invitations with one current status', async () => {
    const invitations = [await invited(), await invited(), await invited(), await invited(), await invited()];
    const [pending, accepted, cancelled, declined, expired] = invitations;
    await accept(accepted!.guest, accepted!.token).expect(200);
    await team.admin.delete(cancelled!.url).expect(204);
    await declined!.guest.post(`${declined!.own}/decline`).expect(204);
    await expire(app.database, expired!.id);
    const ids = async (query: string) => (await listed(query)).map(({ id }) => id);
    expect(await ids('')).toEqual(invitations.map(({ id }) => id));
    expect(await ids('?status=pending')).toEqual([pending!.id]);
    expect(await ids('?status=accepted')).toEqual([accepted!.id]);
    expect(await ids('?status=cancelled')).toEqual([cancelled!.id, declined!.id]);
    expect(await ids('?status=expired')).toEqual([expired!.id]);
    const [first, second, third, fourth, fifth] = await listed();
    expect(first).toMatchObject({ accepted_at: null, cancelled_at: null });
    expect(second).toMatchObject({ accepted_at: expect.stringMatching(ISO_TIME), cancelled_at: null });
    for (const row of [third, fourth])
      expect(row).toMatchObject({ accepted_at: null, cancelled_at: expect.stringMatching(ISO_TIME) });
    expect(fifth).toMatchObject({ accepted_at: null, cancelled_at: null });
  });

  it.each(['', 'Pending', 'pending,accepted', 'declined', 'pending&status=accepted', '%00'])(
    'rejects ?status=%s',
    async (status) => {
      const { body } = await team.admin.get(`${team.base}/invitations?status=${status}`).expect(400);
      expect(body).toEqual({ error: { message: expect.any(String) } });
    },
  );

  it('contains no tokens', async () => {
    const { token } = await invited();
    const { text } = await team.admin.get(`${team.base}/invitations`);
    expect(text).not.toContain(token);
    expect(text).not.toMatch(/token|join_url/);
  });
});

describe('cancellation', () => {
  it('invalidates the link and may be repeated', async () => {
    const { id, url, guest, token, own, email } = await invited();
    await team.admin.delete(url).expect(204, '');
    const [before] = await listed();
    await team.admin.delete(url).expect(204, '');
    expect(await listed()).toEqual([before]);
    expect(before).toMatchObject({ id, status: 'cancelled' });
    for (const refused of [accept(guest, token), guest.post(`${own}/accept`), guest.post(`${own}/decline`)]) {
      expect((await refused.expect(410)).body).toEqual(typed('invitation_cancelled'));
    }
    await guest.get('/me/invitations').expect(200, { invitations: [] });
    await invite(team, email);
  });

  it('is rejected for an accepted invitation', async () => {
    const { url, guest, token, user } = await invited();
    await accept(guest, token).expect(200);
    expect((await team.admin.delete(url).expect(409)).body).toEqual(typed('invitation_not_pending'));
    expect(await roles()).toEqual({ [team.user]: 'admin', [user]: 'member' });
  });

  it('is 404 for an invitation of another organization', async () => {
    const other = await teamOwner(app);
    const { id } = await invited();
    for (const unknown of [id, 999_999]) {
      const url = `${other.base}/invitations/${unknown}`;
      await other.admin.delete(url).expect(404, { error: { message: 'not found' } });
      await other.admin.post(`${url}/resend`).expect(404, { error: { message: 'not found' } });
    }
    expect(await statusOf(id)).toBe('pending');
  });
});

describe('resend', () => {
  it('replaces the token and restarts the 7 days', async () => {
    const { id, url, token, guest, user } = await invited();
    await app.database.query(
      `UPDATE invitations SET created_at = now() - interval '6 days', expires_at = now() + interval '1 day' WHERE id = $1`,
      [id],
    );
    const [before] = await listed();
    const { body, headers } = await team.admin.post(`${url}/resend`).expect(200);
    expect(headers['cache-control']).toBe('no-store');
    const { token: second, join_url, ...invitation } = body;
    expect(join_url).toBe(`https://app.example.com/mintkeep/join?token=${second}`);
    expect(invitation).toEqual({ ...before, expires_at: expect.stringMatching(ISO_TIME) });
    const validFor = Date.parse(invitation.expires_at) - Date.now();
    expect(Math.abs(validFor - SEVEN_DAYS_MS)).toBeLessThan(60_000);
    for (const dead of [preview(guest, token), accept(guest, token)]) {
      expect((await dead.expect(404)).body).toEqual(typed('invitation_not_found'));
    }
    await accept(guest, second).expect(200);
    expect(await roles()).toHaveProperty(user);
  });

  it('is rejected unless the invitation is pending', async () => {
    const [accepted, cancelled] = [await invited(), await invited()];
    await accept(accepted.guest, accepted.token).expect(200);
    await team.admin.delete(cancelled.url).expect(204);
    for (const { url, guest, token } of [accepted, cancelled]) {
      const { body } = await team.admin.post(`${url}/resend`).expect(409);
      expect(body).toEqual(typed('invitation_not_pending'));
      expect((await preview(guest, token).expect(200)).body.status).not.toBe('pending');
    }
  });
});

describe('GET /me/invitations', () => {
  it('lists the pending invitations for the address, with the organization', async () => {
    const { id, user, guest } = await invited('admin');
    const { body } = await guest.get('/me/invitations').expect(200);
    const [invitation] = await listed();
    expect(body).toEqual({
      invitations: [{ ...invitation, organization: { id: team.organizationId, name: 'Acme' } }],
    });
    expect(body.invitations[0].id).toBe(id);
    const shouting = await app.as(`${user}-too`, { email: emailOf(user).toUpperCase() });
    await shouting.get('/me/invitations').expect(200, body);
    await team.admin.put(team.base).send({ name: 'Renamed' }).expect(200);
    expect((await guest.get('/me/invitations')).body.invitations[0].organization.name).toBe('Renamed');
  });

  it('lists invitations of all teams by id, and none of other addresses', async () => {
    const { user, guest, id } = await invited();
    const { id: second } = await invite(await teamOwner(app), emailOf(user));
    await invited();
    const { body } = await guest.get('/me/invitations').expect(200);
    expect(body.invitations.map((one: { id: number }) => one.id)).toEqual([id, second]);
  });

  it.each([false, 'false', 'no', 'False', '', 0, null])(
    'is empty while email_verified is %j, and nothing can be accepted',
    async (email_verified) => {
      const { user, token } = await invited();
      const unverified = await app.as(user, { email_verified });
      await unverified.get('/me/invitations').expect(200, { invitations: [] });
      expect((await accept(unverified, token).expect(403)).body).toEqual(typed('email_unverified'));
    },
  );

  it.each([true, 'true', undefined])('is there when email_verified is %j', async (email_verified) => {
    const { user, token } = await invited();
    const verified = await app.as(user, { email_verified });
    expect((await verified.get('/me/invitations')).body.invitations).toHaveLength(1);
    await accept(verified, token).expect(200);
  });
});

describe('the preview', () => {
  it('shows the invitation to every holder of the link', async () => {
    const { token, email, expires_at, guest } = await invited('admin');
    const { body: organization } = await team.admin.get(team.base);
    const expected = {
      organization: { name: 'Acme', slug: organization.slug },
      role: 'admin',
      email,
      status: 'pending',
      expires_at,
      invited_by: { user_id: team.user, email: emailOf(team.user) },
    };
    const unverified = await app.as('unverified', { email_verified: false });
    for (const agent of [guest, team.admin, await app.as('stranger'), unverified]) {
      await preview(agent, token).expect(200, expected);
    }
  });

  it('shows the current status', async () => {
    const [accepted, cancelled] = [await invited(), await invited()];
    await accept(accepted.guest, accepted.token).expect(200);
    await team.admin.delete(cancelled.url).expect(204);
    expect((await preview(accepted.guest, accepted.token).expect(200)).body.status).toBe('accepted');
    expect((await preview(cancelled.guest, cancelled.token).expect(200)).body.status).toBe('cancelled');
  });

  it.each(['preview', 'accept'])('%s of an unknown token is 404', async (what) => {
    const { token, guest } = await invited();
    for (const wrong of ['', 'x', ` ${token}`, token.slice(0, -1), `${token}A`, token.toLowerCase() + '.']) {
      const { body } = await guest.post(`/me/invitations/${what}`).send({ token: wrong }).expect(404);
      expect(body).toEqual(typed('invitation_not_found'));
    }
  });

  it.each(['preview', 'accept'])('%s with a malformed token is 400', async (what) => {
    for (const token of [undefined, null, 7, {}, ['x'], 'x\0', '\ud800']) {
      const { body } = await team.admin.post(`/me/invitations/${what}`).send({ token }).expect(400);
      expect(body).toEqual({ error: { message: expect.any(String) } });
    }
  });
});

describe('acceptance', () => {
  it.each(['by token', 'by id'])('%s makes the caller a member', async (how) => {
    const { id, token, guest, user, own } = await invited();
    const { body } = await (how === 'by id' ? guest.post(`${own}/accept`) : accept(guest, token)).expect(200);
    const { body: organization } = await guest.get(team.base).expect(200);
    const { body: members } = await guest.get(`${team.base}/members`).expect(200);
    expect(body).toEqual({ organization, member: members.members[1] });
    expect(body.organization).toMatchObject({ role: 'member', member_count: 2 });
    expect(body.member).toMatchObject({ user_id: user, email: emailOf(user), role: 'member' });
    expect(await statusOf(id)).toBe('accepted');
    await guest.get('/me/invitations').expect(200, { invitations: [] });
  });

  it('ignores case and white space of addresses', async () => {
    const user = newUser();
    const { token } = await invite(team, ` ${emailOf(user).toUpperCase()} `, 'admin');
    const guest = await app.as(user, { email: `  ${emailOf(user)} ` });
    await accept(guest, token).expect(200);
    expect(await roles()).toEqual({ [team.user]: 'admin', [user]: 'admin' });
  });

  it('returns the same response when repeated, also after 7 days, and changes nothing', async () => {
    const { id, token, guest, own, user } = await invited();
    const { body } = await accept(guest, token).expect(200);
    await team.admin.put(`${team.base}/members/${user}`).send({ role: 'admin' }).expect(200);
    await expire(app.database, id);
    const now = {
      organization: { ...body.organization, role: 'admin' },
      member: { ...body.member, role: 'admin' },
    };
    await accept(guest, token).expect(200, now);
    await guest.post(`${own}/accept`).expect(200, now);
    expect(await statusOf(id)).toBe('accepted');
  });

  it('returns the same response to the same user with another address, and 409 after a removal', async () => {
    const { token, guest, own, user } = await invited();
    const { body } = await accept(guest, token).expect(200);
    const email = `${user}@moved.example.com`;
    const moved = await app.as(user, { email });
    const now = { ...body, member: { ...body.member, email } };
    await accept(moved, token).expect(200, now);
    await moved.post(`${own}/accept`).expect(200, now);
    await team.admin.delete(`${team.base}/members/${user}`).expect(200);
    for (const used of [accept(moved, token), moved.post(`${own}/accept`)])
      expect((await used.expect(409)).body).toEqual(typed('invitation_used'));
  });

  it('responds with 409 after the first use, to a removed member and to another user with the address', async () => {
    const { token, guest, own, user } = await invited();
    await accept(guest, token).expect(200);
    const namesake = await app.as(newUser(), { email: emailOf(user) });
    await team.admin.delete(`${team.base}/members/${user}`).expect(200);
    for (const agent of [guest, namesake]) {
      for (const used of [accept(agent, token), agent.post(`${own}/accept`), agent.post(`${own}/decline`)]) {
        expect((await used.expect(409)).body).toEqual(typed('invitation_used'));
      }
    }
    expect(await roles()).toEqual({ [team.user]: 'admin' });
    await accept(guest, (await invite(team, emailOf(user))).token).expect(200);
    expect((await accept(guest, token).expect(200)).body.member.user_id).toBe(user);
  });

  it('never demotes a member', async () => {
    const user = newUser();
    await join(app, team, user, 'admin');
    const { token } = await invite(team, `${user}@second.example.com`, 'member');
    const second = await app.as(user, { email: `${user}@second.example.com` });
    const { body } = await accept(second, token).expect(200);
    expect(body).toMatchObject({
      organization: { role: 'admin', member_count: 2 },
      member: { role: 'admin' },
    });
    expect(await roles()).toEqual({ [team.user]: 'admin', [user]: 'admin' });
  });

  it('promotes a member in one organization', async () => {
    const user = newUser();
    const other = await teamOwner(app);
    for (const owner of [team, other]) await join(app, owner, user, 'member');
    const { token } = await invite(team, `${user}@second.example.com`, 'admin');
    const second = await app.as(user, { email: `${user}@second.example.com` });
    expect((await accept(second, token).expect(200)).body.member.role).toBe('admin');
    expect(await roles()).toEqual({ [team.user]: 'admin', [user]: 'admin' });
    expect((await second.get(other.base).expect(200)).body.role).toBe('member');
  });

  it('works after the inviter has left or lost the admin role', async () => {
    const pat = await join(app, team, 'pat', 'admin');
    const asked = (user: string) => invite({ ...team, user: 'pat', admin: pat }, emailOf(user));
    const [first, second] = [newUser(), newUser()];
    const [one, two] = [await asked(first), await asked(second)];
    await team.admin.put(`${team.base}/members/pat`).send({ role: 'member' }).expect(200);
    await accept(await app.as(first), one.token).expect(200);
    await pat.delete(`${team.base}/members/me`).expect(200);
    const guest = await app.as(second);
    const { body } = await preview(guest, two.token).expect(200);
    expect(body).toMatchObject({
      status: 'pending',
      invited_by: { user_id: 'pat', email: 'pat@example.com' },
    });
    await accept(guest, two.token).expect(200);
    expect(Object.keys(await roles())).toEqual([team.user, first, second]);
  });

  it('uses the current address of the session', async () => {
    const { token, guest, user } = await invited();
    const moved = await app.as(user, { email: `${user}@new.example.com` });
    expect((await accept(moved, token).expect(403)).body).toEqual(typed('email_mismatch'));
    await accept(guest, token).expect(200);
  });
});

describe('the order of rejections', () => {
  const STATES = ['pending', 'cancelled', 'expired', 'accepted'] as const;

  /** An invitation in a state, and sessions that may not accept it. */
  async function inState(state: (typeof STATES)[number]) {
    const { id, user, guest, token, url, own } = await invited();
    if (state === 'cancelled') await team.admin.delete(url).expect(204);
    if (state === 'expired') await expire(app.database, id);
    if (state === 'accepted') await accept(guest, token).expect(200);
    const stranger = newUser();
    return {
      ...{ token, own, unverified: await app.as(user, { email_verified: false }) },
      stranger: await app.as(stranger),
      unverifiedStranger: await app.as(stranger, { email_verified: false }),
    };
  }

  it.each(STATES)(
    '%s: by token, reports an unverified address first, then another address',
    async (state) => {
      const { token, unverified, unverifiedStranger, stranger } = await inState(state);
      expect((await accept(unverified, token).expect(403)).body).toEqual(typed('email_unverified'));
      expect((await accept(unverifiedStranger, token).expect(403)).body).toEqual(typed('email_unverified'));
      expect((await accept(stranger, token).expect(403)).body).toEqual(typed('email_mismatch'));
    },
  );

  it.each(STATES)('%s: by id, responds 404 to users who are not invited', async (state) => {
    const { own, unverified, unverifiedStranger, stranger } = await inState(state);
    for (const what of ['accept', 'decline']) {
      const { body } = await unverified.post(`${own}/${what}`).expect(403);
      expect(body).toEqual(typed('email_unverified'));
      const unknown = await stranger.post(`/me/invitations/999999/${what}`).expect(404);
      expect(unknown.body).toEqual(typed('invitation_not_found'));
      for (const agent of [stranger, unverifiedStranger, team.admin]) {
        await agent.post(`${own}/${what}`).expect(404, unknown.body);
      }
    }
  });

  it('reports an unknown token before an unverified session', async () => {
    const unverified = await app.as(newUser(), { email_verified: false });
    expect((await accept(unverified, 'x').expect(404)).body).toEqual(typed('invitation_not_found'));
  });

  it.each(['0x1', '01', '-1', '1e3', '9999999999999999'])('rejects the malformed id %s', async (id) => {
    for (const what of ['accept', 'decline'])
      await team.admin.post(`/me/invitations/${id}/${what}`).expect(400);
    await team.admin.delete(`${team.base}/invitations/${id}`).expect(400);
    await team.admin.post(`${team.base}/invitations/${id}/resend`).expect(400);
  });
});

describe('decline', () => {
  it('cancels the invitation and allows a new one', async () => {
    const { id, own, guest, token, email, url } = await invited();
    await guest.post(`${own}/decline`).expect(204, '');
    expect(await statusOf(id)).toBe('cancelled');
    for (const again of [guest.post(`${own}/decline`), accept(guest, token)]) {
      expect((await again.expect(410)).body).toEqual(typed('invitation_cancelled'));
    }
    await team.admin.delete(url).expect(204);
    expect((await team.admin.post(`${url}/resend`).expect(409)).body).toEqual(
      typed('invitation_not_pending'),
    );
    await accept(guest, (await invite(team, email)).token).expect(200);
  });

  it('is rejected for an accepted invitation', async () => {
    const { own, guest, token, user } = await invited();
    await accept(guest, token).expect(200);
    expect((await guest.post(`${own}/decline`).expect(409)).body).toEqual(typed('invitation_used'));
    expect(await roles()).toHaveProperty(user);
  });
});

describe('the invitations of a deleted organization', () => {
  it('are cancelled and have that status', async () => {
    const [pending, accepted, expired] = [await invited(), await invited(), await invited()];
    const { body: organization } = await team.admin.put(team.base).send({ name: 'Last name' }).expect(200);
    await accept(accepted.guest, accepted.token).expect(200);
    await expire(app.database, expired.id);
    await team.admin.delete(team.base).expect(200);

    const { body } = await preview(pending.guest, pending.token).expect(200);
    expect(body).toMatchObject({
      organization: { name: 'Last name', slug: organization.slug },
      status: 'cancelled',
    });
    for (const { guest, token, own, refusal } of [
      { ...pending, refusal: [410, 'invitation_cancelled'] as const },
      { ...accepted, refusal: [409, 'invitation_used'] as const },
      { ...expired, refusal: [410, 'invitation_expired'] as const },
    ]) {
      for (const refused of [
        accept(guest, token),
        guest.post(`${own}/accept`),
        guest.post(`${own}/decline`),
      ]) {
        const { status, body: answer } = await refused;
        expect([status, answer]).toEqual([refusal[0], typed(refusal[1])]);
      }
      await guest.get('/me/invitations').expect(200, { invitations: [] });
    }
    expect((await preview(accepted.guest, accepted.token)).body.status).toBe('accepted');
    expect((await preview(expired.guest, expired.token)).body.status).toBe('expired');
  });

  it('give no access to a new organization with the same slug', async () => {
    const { guest, token } = await invited();
    const { slug } = (await team.admin.get(team.base)).body;
    await team.admin.delete(team.base).expect(200);
    const { body } = await team.admin.post('/me/organizations').send({ name: 'New', slug }).expect(201);
    await accept(guest, token).expect(410);
    await team.admin.get(`/me/organizations/${body.id}/invitations`).expect(200, { invitations: [] });
    expect((await team.admin.get(`/me/organizations/${body.id}`)).body.member_count).toBe(1);
  });
});
