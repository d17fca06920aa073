import type { TestApp } from '../support/app.js';
import { beginLogin, TestBrowser } from '../support/device-flow.js';
import { invite, join, personalOwner, teamOwner } from '../support/owners.js';
import type { TestOwner } from '../support/owners.js';
import { sessionFor } from '../support/sessions.js';
import type { Credential, FormField } from './requests.js';

/** Something of every kind, and those who may and may not touch it. */
export interface World {
  readonly credentials: Readonly<Record<Credential, string | undefined>>;
  /** Values of path parameters at the personal address, and at the team's. */
  readonly personal: Readonly<Record<string, string>>;
  readonly team: Readonly<Record<string, string>>;
  /** The cookie of a browser in which the admin is signed in, and what the page's form has there. */
  readonly browser: { readonly cookie: string; readonly form: Readonly<Record<FormField, string>> };
}

/** Makes a world; everybody and everything in it is new. */
export async function createWorld(app: TestApp, upstreamUrl: string): Promise<World> {
  const admin = await personalOwner(app);
  const team = { ...(await teamOwner(app)) };
  const bearer = async (user: string) => `Bearer ${await sessionFor(user)}`;
  const owner = { ...team, user: team.user };
  const member = `member-of-${team.organizationId}`;
  await join(app, owner, member, 'member');
  const { body } = await team.admin.post(`${team.base}/keys`).expect(201);
  const { id } = await invite(owner, `invited-to-${team.organizationId}@example.com`);
  const received = await invite(await teamOwner(app), `${team.user}@example.com`);
  const { user_code } = await beginLogin(app);
  const browser = await TestBrowser.of(app, team.user);
  const form = {
    ...{ user_code, csrf_token: await browser.csrfToken(user_code) },
    organization_id: String(team.organizationId),
  };
  const others = { user_id: member, user_code, path: 'chat/completions' };
  const personal = await possessions({ ...admin, admin: team.admin, base: '/me' }, upstreamUrl);
  const credentials = {
    ...{ admin: await bearer(team.user), member: await bearer(member), stranger: await bearer('stranger') },
    ...{
      nobody: undefined,
      key: `Bearer ${body.api_key}`,
      forged: `Bearer ${(await sessionFor('x')).slice(0, -6)}AAAAAA`,
    },
  };
  return {
    credentials,
    browser: { cookie: browser.cookie, form },
    personal: { ...others, ...personal, id: personal.project_id!, invitation_id: String(received.id) },
    team: {
      ...others,
      ...(await possessions(owner, upstreamUrl)),
      ...{ id: String(team.organizationId), invitation_id: String(id) },
    },
  };
}

async function possessions({ base, admin }: TestOwner, upstreamUrl: string): Promise<Record<string, string>> {
  const make = async (path: string, fields: object) => {
    const { body } = await admin.post(`${base}${path}`).send(fields).expect(201);
    return String(body.id);
  };
  const project_id = await make('/projects', { name: 'p' });
  return {
    project_id,
    document_id: await make(`/projects/${project_id}/documents`, { title: 't', slug: 's', content: 'c' }),
    upstream_id: await make('/upstreams', { name: 'u', base_url: upstreamUrl, api_key: 'sk-12345678' }),
    key_id: await make('/keys', {}),
  };
}
