import { InvitationExpiry } from '../../src/invitations/invitation-expiry.js';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { teamOwner } from '../support/owners.js';
import type { TestOwner } from '../support/owners.js';
import { sessionFor } from '../support/sessions.js';
import supertest from 'supertest';

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const DAY_MS = 86_400_000;
const typed = (type: string) => ({ error: { type, message: expect.any(String) } });

let app: TestApp;
let team: TestOwner;
let count = 0;

beforeAll(async () => {
  app = await startApp({ DASHBOARD_URL: 'https://app.example.com/mintkeep/' });
});
beforeEach(async () => {
  team = await teamOwner(app);
});
afterAll(() => app.close());

/** Somebody new, who has an address of their own. */
const somebody = async () => {
  const user = `guest-${++count}`;
  return { user, email: `${user}@example.com`, agent: await app.as(user) };
};

const invite = async (email: string, role = 'member') =>
  (await team.admin.post(`${team.base}/invite`).send({ email, role }).expect(201)).body;
const accept = (agent: TestOwner['admin'], token: unknown) =>
  agent.post('/me/invitations/accept').send({ token });
const expire = (id: number) =>
  app.database.query(`UPDATE invitations SET expires_at = now() - interval '1 second' WHERE id = $1`, [id]);
const listed = async (query = '') =>
  (await team.admin.get(`${team.base}/invitations${query}`).expect(200)).body.invitations;
const unverified = async (user: string) =>
  supertest
    .agent(app.url)
    .set('Authorization', `Bearer ${await sessionFor(user, { email_verified: false })}`);

describe('inviting', () => {
  it('answers with the invitation, its token and the link to join, once', async () => {
    const { body, headers } = await team.admin
      .post(`${team.base}/invite`)
      .send({ email: ' New.Person@Example.com ', role: 'admin' })
      .expect(201);
    expect(headers['cache-control']).toBe('no-store');
    const { token, join_url, ...invitation } = body;
    expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(join_url).toBe(`https://app.example.com/mintkeep/join?token=${token}`);
    expect(invitation).toEqual({
      id: expect.any(Number),
      organization_id: team.organizationId,
      email: 'New.Person@Example.com',
      role: 'admin',
      status: 'pending',
      invited_by: { user_id: team.user, email: `${team.user}@example.com` },
      created_at: expect.stringMatching(ISO_TIME),
      expires_at: expect.stringMatching(ISO_TIME),
      accepted_at: null,
      cancelled_at: null,
      email_delivery: 'disabled',
    });
    expect(Date.parse(invitation.expires_at) - Date.parse(invitation.created_at)).toBe(7 * DAY_MS);
    expect(await listed()).toEqual([invitation]);
    const dump = await app.database.query('SELECT to_jsonb(i) AS row FROM invitations i');
    expect(JSON.stringify(dump)).not.toContain(token);
  });

  it.each([
    [{ role: 'member' }, 'invalid_email'],
    [{ email: 'x', role: 'member' }, 'invalid_email'],
    [{ email: 'a@b@example.com', role: 'member' }, 'invalid_email'],
    [{ email: 7, role: 'member' }, 'invalid_email'],
    [{ email: 'a@example.com' }, 'invalid_role'],
    [{ email: 'a@example.com', role: 'owner' }, 'invalid_role'],
    [{ email: 'a@example.com', role: ['admin'] }, 'invalid_role'],
  ])('refuses %j', async (body, type) => {
    expect((await team.admin.post(`${team.base}/invite`).send(body).expect(400)).body).toEqual(typed(type));
  });

  it('knows addresses whatever their case', async () => {
    const again = (email: string) =>
      team.admin.post(`${team.base}/invite`).send({ email, role: 'member' }).expect(409);
    await invite('twice@example.com');
    expect((await again(' TWICE@Example.com')).body).toEqual(typed('invitation_pending'));
    expect((await again(`${team.user.toUpperCase()}@EXAMPLE.com`)).body).toEqual(typed('already_member'));
  });

  it('is not held up by an invitation that has expired', async () => {
    const first = await invite('late@example.com');
    await expire(first.id);
    const second = await invite('late@example.com');
    expect((await listed()).map(({ id, status }: Record<string, unknown>) => [id, status])).toEqual([
      [first.id, 'expired'],
      [second.id, 'pending'],
    ]);
  });
});

describe('the list', () => {
  it('can be filtered by what the status is at this moment', async () => {
    const [pending, old, cancelled] = [
      await invite('a@example.com'),
      await invite('b@example.com'),
      await invite('c@example.com'),
    ];
    await expire(old.id);
    await team.admin.delete(`${team.base}/invitations/${cancelled.id}`).expect(204);
    const ids = async (status: string) =>
      (await listed(`?status=${status}`)).map(({ id }: { id: number }) => id);
    expect(await ids('pending')).toEqual([pending.id]);
    expect(await ids('expired')).toEqual([old.id]);
    expect(await ids('cancelled')).toEqual([cancelled.id]);
    expect(await ids('accepted')).toEqual([]);
    for (const bad of ['', 'open', 'pending&status=expired']) {
      await team.admin.get(`${team.base}/invitations?status=${bad}`).expect(400);
    }
  });

  it('is made right in the table by a job, which may run on two replicas at once', async () => {
    const old = await invite('old@example.com');
    const fresh = await invite('fresh@example.com');
    await expire(old.id);
    const job = app.app.get(InvitationExpiry, { strict: false });
    await Promise.all([job.run(), job.run()]);
    const rows = await app.database.query('SELECT status FROM invitations WHERE id = ANY($1) ORDER BY id', [
      [old.id, fresh.id],
    ]);
    expect(rows).toEqual([{ status: 'expired' }, { status: 'pending' }]);
  });
});

describe('cancelling and sending again', () => {
  it('kills the token', async () => {
    const { agent, email } = await somebody();
    const { id, token } = await invite(email);
    await team.admin.delete(`${team.base}/invitations/${id}`).expect(204, '');
    await team.admin.delete(`${team.base}/invitations/${id}`).expect(204);
    expect((await accept(agent, token).expect(410)).body).toEqual(typed('invitation_cancelled'));
    expect((await listed())[0]).toMatchObject({
      status: 'cancelled',
      cancelled_at: expect.stringMatching(ISO_TIME),
    });
    await invite(email);
  });

  it('gives a new token and seven new days', async () => {
    const { agent, email } = await somebody();
    const first = await invite(email);
    await app.database.query(
      `UPDATE invitations SET expires_at = expires_at - interval '3 days' WHERE id = $1`,
      [first.id],
    );
    const { body: second, headers } = await team.admin
      .post(`${team.base}/invitations/${first.id}/resend`)
      .expect(200);
    expect(headers['cache-control']).toBe('no-store');
    expect(second).toMatchObject({ id: first.id, status: 'pending', created_at: first.created_at });
    expect(Date.parse(second.expires_at) - Date.now()).toBeGreaterThan(7 * DAY_MS - 60_000);
    expect((await accept(agent, first.token).expect(404)).body).toEqual(typed('invitation_not_found'));
    await accept(agent, second.token).expect(200);
  });

  it('is refused for what is no longer pending', async () => {
    const { agent, email } = await somebody();
    const accepted = await invite(email);
    await accept(agent, accepted.token).expect(200);
    const expired = await invite('e@example.com');
    await expire(expired.id);
    for (const { id } of [accepted, expired]) {
      for (const request of [
        team.admin.delete(`${team.base}/invitations/${id}`),
        team.admin.post(`${team.base}/invitations/${id}/resend`),
      ]) {
        expect((await request.expect(409)).body).toEqual(typed('invitation_not_pending'));
      }
    }
    const other = await teamOwner(app);
    await other.admin
      .delete(`${other.base}/invitations/${accepted.id}`)
      .expect(404, { error: { message: 'not found' } });
  });
});

describe('accepting', () => {
  it('makes a member, and again changes nothing', async () => {
    const { agent, email, user } = await somebody();
    const { token, id } = await invite(email.toUpperCase(), 'admin');
    const { body } = await accept(agent, token).expect(200);
    expect(body.organization).toMatchObject({ id: team.organizationId, role: 'admin', member_count: 2 });
    expect(body.member).toEqual({
      user_id: user,
      email,
      role: 'admin',
      joined_at: expect.stringMatching(ISO_TIME),
    });
    expect((await accept(agent, token).expect(200)).body).toEqual(body);
    expect((await agent.post(`/me/invitations/${id}/accept`).expect(200)).body).toEqual(body);
    expect((await listed())[0]).toMatchObject({
      status: 'accepted',
      accepted_at: expect.stringMatching(ISO_TIME),
    });
  });

  it('is for the invited address alone, verified', async () => {
    const { email, user } = await somebody();
    const stranger = await somebody();
    const { token, id } = await invite(email);
    expect((await accept(stranger.agent, token).expect(403)).body).toEqual(typed('email_mismatch'));
    expect((await accept(await unverified(user), token).expect(403)).body).toEqual(typed('email_unverified'));
    expect((await accept(await unverified(stranger.user), token).expect(403)).body).toEqual(
      typed('email_unverified'),
    );
    await stranger.agent.post(`/me/invitations/${id}/accept`).expect(404);
    await stranger.agent.post(`/me/invitations/${id}/decline`).expect(404);
    expect((await listed())[0].status).toBe('pending');
  });

  it.each([[undefined], [null], [7], [{}]])('needs a token, not %j', async (token) => {
    const { agent } = await somebody();
    for (const path of ['accept', 'preview']) {
      expect((await agent.post(`/me/invitations/${path}`).send({ token })).status).toBe(400);
    }
  });

  it('with a token that nobody has is 404', async () => {
    const { agent } = await somebody();
    for (const token of ['', 'x', 'A'.repeat(43)]) {
      expect((await accept(agent, token).expect(404)).body).toEqual(typed('invitation_not_found'));
      await agent.post('/me/invitations/preview').send({ token }).expect(404);
    }
    await agent.post('/me/invitations/999999/accept').expect(404);
  });

  it('tells mismatch before it tells what became of the invitation', async () => {
    const { email, agent } = await somebody();
    const stranger = await somebody();
    const { token, id } = await invite(email);
    await expire(id);
    expect((await accept(stranger.agent, token).expect(403)).body).toEqual(typed('email_mismatch'));
    expect((await accept(agent, token).expect(410)).body).toEqual(typed('invitation_expired'));
  });

  it('works once: who was removed since needs another invitation', async () => {
    const { email, agent, user } = await somebody();
    const { token } = await invite(email);
    await accept(agent, token).expect(200);
    await team.admin.delete(`${team.base}/members/${user}`).expect(200);
    expect((await accept(agent, token).expect(409)).body).toEqual(typed('invitation_used'));
    await accept(agent, (await invite(email)).token).expect(200);
    expect((await accept(agent, token).expect(200)).body.member.user_id).toBe(user);
  });

  it('never lowers a role, and may raise it', async () => {
    const { email, agent, user } = await somebody();
    await accept(agent, (await invite(email, 'member')).token).expect(200);
    const changeAddress = (address: string) => sessionFor(user, { email: address });
    const as = async (address: string) =>
      supertest.agent(app.url).set('Authorization', `Bearer ${await changeAddress(address)}`);
    const raised = await accept(
      await as('second@example.com'),
      (await invite('second@example.com', 'admin')).token,
    );
    expect(raised.body.member.role).toBe('admin');
    const kept = await accept(
      await as('third@example.com'),
      (await invite('third@example.com', 'member')).token,
    );
    expect(kept.body.member.role).toBe('admin');
  });

  it('works after the inviter has left', async () => {
    const { email, agent } = await somebody();
    const successor = await somebody();
    await accept(successor.agent, (await invite(successor.email, 'admin')).token).expect(200);
    const { token } = await invite(email);
    await team.admin.delete(`${team.base}/members/me`).expect(200);
    await accept(agent, token).expect(200);
  });
});

describe('invitations of one’s own', () => {
  it('are listed while they are pending, and accepted or declined without the link', async () => {
    const { email, agent, user } = await somebody();
    const first = await invite(email);
    const another = await teamOwner(app);
    await another.admin.post(`${another.base}/invite`).send({ email, role: 'admin' }).expect(201);
    const { invitations } = (await agent.get('/me/invitations').expect(200)).body;
    expect(invitations).toHaveLength(2);
    expect(invitations[0]).toMatchObject({
      id: first.id,
      organization: { id: team.organizationId, name: 'Acme' },
    });
    expect(JSON.stringify(invitations)).not.toContain('token');
    await (await unverified(user)).get('/me/invitations').expect(200, { invitations: [] });
    await agent.post(`/me/invitations/${invitations[1].id}/decline`).expect(204, '');
    expect((await agent.post(`/me/invitations/${invitations[1].id}/decline`).expect(410)).body).toEqual(
      typed('invitation_cancelled'),
    );
    await agent.post(`/me/invitations/${first.id}/accept`).expect(200);
    expect((await agent.post(`/me/invitations/${first.id}/decline`).expect(409)).body).toEqual(
      typed('invitation_used'),
    );
    await agent.get('/me/invitations').expect(200, { invitations: [] });
    await agent.get(another.base).expect(404);
  });
});

describe('the preview', () => {
  it('tells the holder of a link what it is for, whatever became of it', async () => {
    const { email, agent } = await somebody();
    const { agent: holder } = await somebody();
    const { token, id } = await invite(email);
    const preview = async () =>
      (await holder.post('/me/invitations/preview').send({ token }).expect(200)).body;
    expect(await preview()).toEqual({
      organization: { name: 'Acme', slug: expect.any(String) },
      role: 'member',
      email,
      status: 'pending',
      expires_at: expect.stringMatching(ISO_TIME),
      invited_by: { user_id: team.user, email: `${team.user}@example.com` },
    });
    await team.admin.put(team.base).send({ name: 'Acme Two' }).expect(200);
    expect((await preview()).organization.name).toBe('Acme Two');
    await team.admin.delete(team.base).expect(200);
    expect(await preview()).toMatchObject({ status: 'cancelled', organization: { name: 'Acme Two' } });
    expect((await accept(agent, token).expect(410)).body).toEqual(typed('invitation_cancelled'));
    await agent.post(`/me/invitations/${id}/accept`).expect(410);
    await agent.get('/me/invitations').expect(200, { invitations: [] });
  });
});
