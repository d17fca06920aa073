import supertest from 'supertest';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { join, teamOwner } from '../support/owners.js';
import type { TestOwner } from '../support/owners.js';
import { ROUTES, routesOf } from '../support/routes.js';
import type { Access } from '../support/routes.js';
import { SESSION_SECRET, sessionFor } from '../support/sessions.js';

const UNKNOWN = '999999';
const ADMIN_TOKEN = 'the-admin-token-of-this-test';

let app: TestApp;
let team: TestOwner;
let credentials: Record<string, string | undefined>;

beforeAll(async () => {
  app = await startApp({ ADMIN_TOKEN });
  team = await teamOwner(app);
  await join(app, team, 'member', 'member');
  await join(app, team, 'leaver', 'member');
  await team.admin.delete(`${team.base}/members/leaver`).expect(200);
  const bearer = async (user: string, claims = {}) => `Bearer ${await sessionFor(user, claims)}`;
  const token = await sessionFor(team.user);
  credentials = {
    'no session': undefined,
    'a forged session': `Bearer ${token.slice(0, -8)}AAAAAAAA`,
    'an expired session': await bearer(team.user, { exp: Math.floor(Date.now() / 1_000) - 60 }),
    'a proxy key': 'Bearer mk_0123456789abcdefghijklmnopqrstuvwxyz1LZ3mB',
    'a proxy key that works': `Bearer ${(await team.admin.post(`${team.base}/keys`).expect(201)).body.api_key}`,
    'the admin token': `Bearer ${ADMIN_TOKEN}`,
    'the secret itself': `Bearer ${SESSION_SECRET}`,
    'a stranger': await bearer('stranger'),
    'an ex-member': await bearer('leaver'),
    'a member': await bearer('member'),
    'an admin': await bearer(team.user),
  };
});
afterAll(() => app.close());

const NOBODY = [
  'no session',
  'a forged session',
  'an expired session',
  'a proxy key',
  'a proxy key that works',
  'the admin token',
  'the secret itself',
];
const WITH_SESSION = ['a stranger', 'an ex-member', 'a member', 'an admin'];
const OUTSIDERS = ['a stranger', 'an ex-member'];

/** Nothing is changed: bodies are not JSON, and what is named does not exist. */
async function ask(route: string, who: string) {
  const [method = '', pattern = ''] = route.split(' ');
  const path = pattern.replace(':organizationId', String(team.organizationId)).replace(/:\w+/g, UNKNOWN);
  const request = supertest(app.url)[method.toLowerCase() as 'get'](path);
  const authorization = credentials[who];
  if (authorization !== undefined) request.set('Authorization', authorization);
  return method === 'POST' || method === 'PUT' ? request.send('not JSON') : request;
}

/** Expected status according to the table; undefined if the request passes. */
function expected(access: Access, who: string): { status: number; message: string } | undefined {
  if (access === 'public') return undefined;
  if (NOBODY.includes(who)) return { status: 401, message: 'a valid session is required' };
  if (access === 'session') return undefined;
  if (OUTSIDERS.includes(who)) return { status: 404, message: 'organization not found' };
  if (access !== 'member' && who === 'a member') {
    return { status: 403, message: `only admins can ${access.slice('admin: '.length)}` };
  }
  return undefined;
}

/**
 * Expected status of a request that passes, if all routes agree: lists exist, named objects do not.
 * Routes that take no body do not mind one that is not JSON.
 */
function admitted(route: string): number[] | undefined {
  const [method = '', path = ''] = route.split(' ');
  if (!path.startsWith('/me')) return undefined;
  const names = path.replace('/:organizationId', '').includes('/:');
  if (method === 'POST' || method === 'PUT') return names ? [400, 404] : [400];
  return names ? [404] : [200];
}

it('the table lists every route and no other', () => {
  expect(routesOf(app).sort()).toEqual(Object.keys(ROUTES).sort());
});

// Pages and what is for operators have tests of their own. Deleting the organization itself would be carried out for an admin: that has tests of its own.
const routes = Object.entries(ROUTES).filter(
  ([route, access]) =>
    access !== 'page' && access !== 'operator' && route !== 'DELETE /me/organizations/:organizationId',
);

describe.each(routes)('%s is for %s', (route, access) => {
  it.each([...NOBODY, ...WITH_SESSION])('%s', async (who) => {
    const { status, body } = await ask(route, who);
    const refusal = expected(access, who);
    if (refusal) {
      const error = { message: refusal.message };
      expect({ status, body }).toEqual({ status: refusal.status, body: { error } });
      return;
    }
    expect([401, 403, 405, 500]).not.toContain(status);
    expect(admitted(route) ?? [status]).toContain(status);
    expect(body.error?.message).not.toBe('organization not found');
  });
});

describe('DELETE /me/organizations/:organizationId', () => {
  it.each([...NOBODY, ...OUTSIDERS, 'a member'])('rejects %s', async (who) => {
    const { status } = await ask('DELETE /me/organizations/:organizationId', who);
    expect(status).toBe(expected('admin: delete the organization', who)!.status);
  });

  it('deleted nothing', () => team.admin.get(team.base).expect(200));
});
