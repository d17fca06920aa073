import { KeyUsage } from '../../src/keys/key-usage.js';
import { startApp } from '../support/app.js';
import type { Agent, TestApp } from '../support/app.js';
import { join, teamOwner } from '../support/owners.js';
import type { TestOwner } from '../support/owners.js';
import { inParallel } from '../support/parallel.js';
import { emailOf } from '../support/sessions.js';

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const typed = (type: string) => ({ error: { type, message: expect.any(String) } });
const untyped = (message: string) => ({ error: { message } });

let app: TestApp;
let team: TestOwner;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await teamOwner(app);
});

const member = (userId: string) => `${team.base}/members/${encodeURIComponent(userId)}`;

async function roles(agent = team.admin): Promise<Record<string, string>> {
  const { body } = await agent.get(`${team.base}/members`).expect(200);
  return Object.fromEntries(body.members.map((m: { user_id: string; role: string }) => [m.user_id, m.role]));
}

describe('the member list', () => {
  it('shows all members to every member, in the order in which they joined', async () => {
    const zoe = await join(app, team, 'zoe', 'member');
    await join(app, team, 'amy', 'admin');
    await join(app, team, 'max', 'member');
    const { body } = await zoe.get(`${team.base}/members`).expect(200);
    expect(Object.entries(await roles(zoe))).toEqual([
      [team.user, 'admin'],
      ['zoe', 'member'],
      ['amy', 'admin'],
      ['max', 'member'],
    ]);
    expect(body.members[1]).toEqual({
      user_id: 'zoe',
      email: 'zoe@example.com',
      role: 'member',
      joined_at: expect.stringMatching(ISO_TIME),
    });
    expect((await zoe.get(team.base)).body.member_count).toBe(4);
  });

  it('keeps its order after role changes', async () => {
    for (const user of ['zoe', 'amy']) await join(app, team, user, 'member');
    await team.admin.put(member('amy')).send({ role: 'admin' }).expect(200);
    expect(Object.keys(await roles())).toEqual([team.user, 'zoe', 'amy']);
  });

  it('shows the e-mail address of the latest session', async () => {
    await join(app, team, 'eva', 'member');
    const eva = await app.as('eva', { email: 'Eva@New.example.com' });
    const { body } = await eva.get(`${team.base}/members`).expect(200);
    expect(body.members[1].email).toBe('Eva@New.example.com');
  });
});

describe('a role', () => {
  it('can be changed by admins', async () => {
    const pat = await join(app, team, 'pat', 'member');
    const { body: before } = await team.admin.get(`${team.base}/members`);
    const { body } = await team.admin.put(member('pat')).send({ role: 'admin' }).expect(200);
    expect(body).toEqual({ ...before.members[1], role: 'admin' });
    await pat.put(member(team.user)).send({ role: 'member' }).expect(200);
    expect(await roles()).toEqual({ [team.user]: 'member', pat: 'admin' });
  });

  it('changes in one organization only', async () => {
    const other = await teamOwner(app);
    const pat = await join(app, team, 'pat', 'member');
    await join(app, other, 'pat', 'member');
    for (const role of ['admin', 'member']) {
      await team.admin.put(member('pat')).send({ role }).expect(200);
      await pat
        .post(`${team.base}/projects`)
        .send({ name: role })
        .expect(role === 'admin' ? 201 : 403);
      await pat.post(`${other.base}/projects`).send({ name: role }).expect(403);
      await pat.post('/me/projects').send({ name: role }).expect(201);
    }
  });

  it('cannot be changed by members, not even their own', async () => {
    const pat = await join(app, team, 'pat', 'member');
    for (const userId of ['pat', 'me', team.user, 'nobody']) {
      await pat.put(member(userId)).send('not JSON').expect(403, untyped('only admins can change roles'));
    }
    expect(await roles()).toEqual({ [team.user]: 'admin', pat: 'member' });
  });

  it('may be set to its current value, also for the last admin', async () => {
    const { body: own } = await team.admin.put(member('me')).send({ role: 'admin' }).expect(200);
    expect(own).toMatchObject({ user_id: team.user, role: 'admin' });
    await join(app, team, 'pat', 'member');
    await team.admin.put(member('pat')).send({ role: 'member' }).expect(200);
    const { body } = await team.admin.get(`${team.base}/audit`);
    expect(body.events.map(({ action }: { action: string }) => action)).not.toContain('member.role_changed');
  });

  it.each([['owner'], ['Admin'], [' admin'], [''], [7], [true], [{}], [['admin']], [null], [undefined]])(
    'is not %j',
    async (role) => {
      expect((await team.admin.put(member('me')).send({ role }).expect(400)).body).toEqual(
        typed('invalid_role'),
      );
      await team.admin.put(member('nobody')).send({ role }).expect(400);
    },
  );

  it('takes effect with the next request after a promotion and a demotion', async () => {
    const pat = await join(app, team, 'pat', 'member');
    const create = (name: string) => pat.post(`${team.base}/projects`).send({ name });
    await create('one').expect(403);
    await team.admin.put(member('pat')).send({ role: 'admin' }).expect(200);
    await create('two').expect(201);
    await team.admin.put(member('pat')).send({ role: 'member' }).expect(200);
    await create('three').expect(403);
    expect((await pat.get(team.base)).body.role).toBe('member');
  });
});

describe('a member', () => {
  it.each(['me', 'lea'])('can leave by the id %s', async (id) => {
    const lea = await join(app, team, 'lea', 'member');
    await lea.delete(member(id)).expect(200, { status: 'removed', revoked_keys: 0 });
    await lea.delete(member(id)).expect(404, untyped('organization not found'));
    expect(await roles()).toEqual({ [team.user]: 'admin' });
  });

  it('can be removed by admins', async () => {
    await join(app, team, 'lea', 'member');
    const ada = await join(app, team, 'ada', 'admin');
    await ada.delete(member('lea')).expect(200, { status: 'removed', revoked_keys: 0 });
    await ada.delete(member('lea')).expect(404, untyped('not found'));
    await ada.delete(member(team.user)).expect(200);
    expect(await roles(ada)).toEqual({ ada: 'admin' });
  });

  it('cannot remove others, and gets the same response for unknown users', async () => {
    const lea = await join(app, team, 'lea', 'member');
    for (const userId of [team.user, 'nobody']) {
      await lea.delete(member(userId)).expect(403, untyped('only admins can remove members'));
    }
    expect(await roles()).toEqual({ [team.user]: 'admin', lea: 'member' });
  });

  it('is 404 for admins if unknown', async () => {
    const other = await teamOwner(app);
    for (const userId of ['nobody', other.user, String(team.organizationId), '\0', 'a\0b']) {
      await team.admin.put(member(userId)).send({ role: 'admin' }).expect(404, untyped('not found'));
      await team.admin.delete(member(userId)).expect(404, untyped('not found'));
    }
  });

  it.each(['auth0|5f/7@x', 'a%2Fb', 'a+b c', '日本 ü', 'x?y#z', '1', '"\\'])(
    'may be called %j',
    async (userId) => {
      const agent = await join(app, team, userId, 'member');
      const { body } = await team.admin.put(member(userId)).send({ role: 'admin' }).expect(200);
      expect(body).toMatchObject({ user_id: userId, email: emailOf(userId), role: 'admin' });
      await agent.put(member(userId)).send({ role: 'member' }).expect(200);
      await team.admin.delete(member(userId)).expect(200);
      expect(Object.keys(await roles())).toEqual([team.user]);
    },
  );

  it('is an unknown route if the id contains an unencoded slash', async () => {
    await join(app, team, 'a/b', 'member');
    await team.admin.delete(`${team.base}/members/a/b`).expect(404, untyped('not found'));
    expect(await roles()).toHaveProperty('a/b');
  });
});

describe('the last admin', () => {
  it('cannot be demoted, removed, or leave', async () => {
    await join(app, team, 'pat', 'member');
    for (const refused of [
      team.admin.put(member('me')).send({ role: 'member' }),
      team.admin.put(member(team.user)).send({ role: 'member' }),
      team.admin.delete(member('me')),
      team.admin.delete(member(team.user)),
    ]) {
      expect((await refused.expect(409)).body).toEqual(typed('last_admin'));
    }
    expect(await roles()).toEqual({ [team.user]: 'admin', pat: 'member' });
  });

  it('can be demoted, removed, or leave once there is another admin', async () => {
    const pat = await join(app, team, 'pat', 'admin');
    await team.admin.put(member('me')).send({ role: 'member' }).expect(200);
    expect((await pat.delete(member('me')).expect(409)).body).toEqual(typed('last_admin'));
    await pat.put(member(team.user)).send({ role: 'admin' }).expect(200);
    await pat.delete(member('me')).expect(200);
    expect(await roles()).toEqual({ [team.user]: 'admin' });
  });
});

describe('a former member', () => {
  const READS = ['', '/members', '/projects', '/keys', '/invitations', '/audit'];

  it.each(['leaves', 'is removed'])('loses access with the next request after the member %s', async (how) => {
    const ex = await join(app, team, 'exa', 'admin');
    const { body: project } = await ex.post(`${team.base}/projects`).send({ name: 'p' }).expect(201);
    for (const path of READS) await ex.get(team.base + path).expect(200);
    await (how === 'leaves' ? ex.delete(member('me')) : team.admin.delete(member('exa'))).expect(200);
    for (const path of [...READS, `/projects/${project.id}`]) {
      await ex.get(team.base + path).expect(404, untyped('organization not found'));
    }
    await ex.post(`${team.base}/projects`).send({ name: 'q' }).expect(404);
    await ex.delete(team.base).expect(404);
    const { body } = await ex.get('/me/organizations').expect(200);
    expect(body.organizations).toHaveLength(1);
    await team.admin.get(`${team.base}/projects/${project.id}`).expect(200);
  });

  it('needs a new invitation to return, and gets its role', async () => {
    const ex = await join(app, team, 'exa', 'admin');
    const joined = async () => (await team.admin.get(`${team.base}/members`)).body.members[1].joined_at;
    const before = await joined();
    await ex.delete(member('me')).expect(200);
    await join(app, team, 'exa', 'member');
    expect(await roles(ex)).toEqual({ [team.user]: 'admin', exa: 'member' });
    expect((await joined()) > before).toBe(true);
  });

  it('is removed while the time of last use of the keys is written', async () => {
    const usage = app.app.get(KeyUsage);
    for (let round = 0; round < 10; round++) {
      const max = await join(app, team, 'max', 'member');
      const minted = await inParallel(20, () => max.post(`${team.base}/keys`).expect(201));
      for (const { body } of minted.reverse()) usage.recordUse(body.id);
      const [answer] = await Promise.all([team.admin.delete(member('max')), usage.flush()]);
      expect(answer.body).toEqual({ status: 'removed', revoked_keys: 20 });
    }
  });

  it('keeps personal keys and keys of other teams', async () => {
    const other = await teamOwner(app);
    const kit = await join(app, team, 'kit', 'member');
    await join(app, other, 'kit', 'member');
    const mint = async (agent: Agent, path: string) => (await agent.post(path).expect(201)).body.id as number;
    const kept = [await mint(kit, '/me/keys'), await mint(kit, `${other.base}/keys`)];
    await mint(kit, `${team.base}/keys`);
    await mint(team.admin, `${team.base}/keys`);
    await team.admin.delete(member('kit')).expect(200, { status: 'removed', revoked_keys: 1 });
    const { body } = await kit.get('/me/keys').expect(200);
    expect(body.keys.map(({ id }: { id: number }) => id)).toEqual(kept);
    expect((await team.admin.get(`${team.base}/keys`)).body.keys).toHaveLength(1);
  });
});
