import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Response } from 'supertest';
import { startApp } from '../support/app.js';
import type { Agent, TestApp } from '../support/app.js';
import { beginLogin } from '../support/device-flow.js';
import { startUpstream } from '../support/fake-upstream.js';
import type { FakeUpstream } from '../support/fake-upstream.js';
import { join, teamOwner } from '../support/owners.js';
import { CURL, describeWith } from '../support/requirements.js';

type Json = Response['body'];

const sh = promisify(execFile);

describe('the examples of request bodies', () => {
  /** Bodies that contain a secret, so that no example can work. */
  const WITH_SECRETS: Record<string, number> = {
    previewInvitation: 404,
    acceptInvitationByToken: 404,
    pollDeviceFlow: 400,
  };

  let app: TestApp;
  let ada: Agent;
  let operations: { path: string; method: 'post' | 'put'; operation: Json; example: unknown }[];
  let parameters: Record<'personal' | 'team', Record<string, string>>;

  beforeAll(async () => {
    app = await startApp();
    const team = await teamOwner(app);
    ada = team.admin;
    await join(app, team, 'alan', 'member');
    const { user_code } = await beginLogin(app);
    const make = async (path: string, body: object) =>
      String((await ada.post(path).send(body).expect(201)).body.id);
    const owned = async (base: string) => {
      const project_id = await make(`${base}/projects`, { name: 'p' });
      const document_id = await make(`${base}/projects/${project_id}/documents`, { title: 't', slug: 's' });
      const upstream = { name: 'u', base_url: 'https://api.example.com', api_key: 'sk-12345678' };
      const upstream_id = await make(`${base}/upstreams`, upstream);
      const key_id = await make(`${base}/keys`, {});
      return { project_id, document_id, upstream_id, key_id, user_code, user_id: 'alan' };
    };
    const personal = await owned('/me');
    const { body } = await app.anonymous.get('/openapi.json').expect(200);
    parameters = {
      personal: { ...personal, id: personal.project_id },
      team: { ...(await owned(team.base)), id: String(team.organizationId) },
    };
    operations = Object.entries<Json>(body.paths).flatMap(([path, methods]) =>
      Object.entries<Json>(methods).flatMap(([method, operation]) => {
        const example = operation.requestBody?.content['application/json']?.example as unknown;
        return example && !path.startsWith('/v1')
          ? [{ path, method: method as 'post', operation, example }]
          : [];
      }),
    );
  });
  afterAll(() => app.close());

  const addressOf = (path: string) => {
    const values = parameters[path.startsWith('/me/organizations') ? 'team' : 'personal'];
    return path.replace(/\{(\w+)\}/g, (_, name: string) => values[name]!);
  };

  it('are accepted unchanged', async () => {
    expect(operations.length).toBeGreaterThan(20);
    for (const { path, method, operation, example } of operations) {
      const id: string = operation.operationId;
      const success = Object.keys(operation.responses).find((status) => status.startsWith('2'));
      const { status } = await ada[method](addressOf(path)).send(example as object);
      expect(`${id}: ${status}`).toBe(`${id}: ${WITH_SECRETS[id] ?? success}`);
    }
  });
});

describe('the examples of CSV responses', () => {
  let app: TestApp;
  let paths: Json;

  beforeAll(async () => {
    app = await startApp();
    paths = (await app.anonymous.get('/openapi.json').expect(200)).body.paths;
  });
  afterAll(() => app.close());

  it.each(['', '/requests'])('have the columns of usage%s and one row', async (path) => {
    const { admin, base } = await teamOwner(app);
    for (const [documented, owner] of [
      [`/me/usage${path}`, '/me'],
      [`/me/organizations/{id}/usage${path}`, base],
    ] as const) {
      const { text } = await admin.get(`${owner}/usage${path}`).set('Accept', 'text/csv').expect(200);
      const [header] = text.split('\r\n');
      const example: string = paths[documented].get.responses[200].content['text/csv'].example;
      expect(example.split('\r\n')).toEqual([header, expect.stringContaining(','), '']);
    }
  });
});

describe('the development sign-in in the document', () => {
  let app: TestApp;
  let operation: Json;

  beforeAll(async () => {
    app = await startApp({ SESSION_JWT_SECRET: undefined });
    operation = (await app.anonymous.get('/openapi.json').expect(200)).body.paths['/dev/sign-in'].post;
  });
  afterAll(() => app.close());

  it('accepts the same members as JSON and as a form', () => {
    const media: Json[] = Object.values(operation.requestBody.content);
    expect(media.map(({ schema }) => schema.$ref)).toEqual([
      '#/components/schemas/SignIn',
      '#/components/schemas/SignIn',
    ]);
  });

  it.each([
    ['a page', { email: 'ada@example.com' }, 200],
    ['a redirect', { email: 'ada@example.com', return_to: '/docs' }, 303],
    ['the form again', { email: 'ada' }, 400],
  ])('responds to a form with %s, as documented', async (_what, fields, status) => {
    const { headers } = await app.anonymous.post('/dev/sign-in').type('form').send(fields).expect(status);
    const declared = operation.responses[status];
    const told = Object.keys(declared.headers).map((name) => name.toLowerCase());
    for (const name of ['location', 'set-cookie'])
      if (headers[name]) expect([status, told]).toEqual([status, expect.arrayContaining([name])]);
    if (status !== 303) expect(declared.content).toHaveProperty('text/html');
  });
});

describeWith(CURL, 'the commands in the introduction', () => {
  let app: TestApp;
  let provider: FakeUpstream;
  let blocks: string[];

  beforeAll(async () => {
    provider = await startUpstream();
    app = await startApp({
      SESSION_JWT_SECRET: undefined, // the development sign-in is on
      UPSTREAM_PRIVATE_NETWORKS: 'allow',
    });
    const { body } = await app.anonymous.get('/openapi.json').expect(200);
    const text: string = body.info.description
      .replaceAll(body.servers[0].url, app.url)
      .replaceAll('https://api.openai.com', provider.url);
    blocks = [...text.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block!);
  });
  afterAll(async () => {
    await app.close();
    await provider.close();
  });

  /** Runs a block with `secret` as the value that the reader has to insert, and with earlier values as variables. */
  async function paste(
    block: string | undefined,
    secret = '',
    before: NodeJS.ProcessEnv = {},
  ): Promise<Json> {
    const command = block!.replace(/'the .* of .*'/, `'${secret}'`);
    const { stdout } = await sh('sh', ['-c', command], { env: { ...process.env, ...before } });
    return JSON.parse(stdout);
  }

  it('lead from the sign-in to the list of models', async () => {
    const [signIn, projects, upstream, begin, poll, models, ...rest] = blocks;
    expect(rest).toEqual([]);
    const { token } = await paste(signIn);
    expect(await paste(projects, token)).toEqual({ projects: [] });
    expect(await paste(upstream, 'sk-12345678', { SESSION: token })).toMatchObject({ enabled: true });

    const { device_code, user_code } = await paste(begin);
    expect(await paste(poll, device_code)).toMatchObject({ error: { type: 'authorization_pending' } });
    const approval = app.anonymous.post(`/me/device-requests/${user_code}/approve`);
    await approval.set('Authorization', `Bearer ${token}`).expect(200);
    const { api_key } = await paste(poll, device_code);
    expect(api_key).toMatch(/^mk_/);
    expect(await paste(models, api_key)).toEqual({ object: 'list', data: [] });
  });
});
