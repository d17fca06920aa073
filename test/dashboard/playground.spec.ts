import { startUpstream } from '../support/fake-upstream.js';
import type { FakeUpstream } from '../support/fake-upstream.js';
import { CHROMIUM, describeWith } from '../support/requirements.js';
import { seriousViolations, sidewaysScroll } from './support/accessibility.js';
import { startDashboard } from './support/dashboard.js';
import type { Dashboard, Person } from './support/dashboard.js';

const event = (payload: object) => `data: ${JSON.stringify(payload)}\n\n`;
const delta = (content: string) => event({ choices: [{ index: 0, delta: { content } }] });

describeWith(CHROMIUM, 'the playground', () => {
  let dashboard: Dashboard;
  let upstream: FakeUpstream;
  let endStream: () => void;
  beforeAll(async () => {
    dashboard = await startDashboard({ UPSTREAM_PRIVATE_NETWORKS: 'allow' });
    upstream = await startUpstream((request, response) => {
      if (request.url!.endsWith('/models'))
        return response
          .writeHead(200, { 'Content-Type': 'application/json' })
          .end('{"object":"list","data":[{"id":"gpt-test","object":"model"}]}');
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(delta('Hello'));
      endStream = () =>
        response.end(
          `${delta(' world')}${event({ choices: [], usage: { prompt_tokens: 5, completion_tokens: 9, total_tokens: 14 } })}data: [DONE]\n\n`,
        );
    });
  });
  afterAll(async () => {
    await upstream.close();
    await dashboard.close();
  });

  /** Opens the playground of a new person who has an upstream, and writes a prompt. */
  async function openWithPrompt(user: string): Promise<Person> {
    const person = await dashboard.signedIn(user);
    const { page, agent } = person;
    await agent
      .post('/me/upstreams')
      .send({ name: 'Local', base_url: `${upstream.url}/v1`, api_key: 'sk-12345678' });
    await page.goto(dashboard.url);
    await page.getByRole('link', { name: 'Playground' }).click();
    await page.getByLabel('Prompt').fill('Say hello');
    return person;
  }

  it('leads from the sign-in to the first response in five clicks', async () => {
    const { page } = await dashboard.open();
    const { agent, email } = await dashboard.signedIn('user-1');
    let clicks = 0;
    const click = async (role: 'link' | 'button', name: string) => {
      clicks++;
      await page.getByRole(role, { name, exact: true }).last().click();
    };
    await page.goto(dashboard.url);
    await page.getByLabel('E-mail address').fill(email);
    await click('button', 'Sign in');
    await click('link', 'Connect a provider');
    await page.getByLabel('Name').fill('Local');
    await page.getByLabel('Base URL').fill(`${upstream.url}/v1`);
    await page.getByLabel('API key').first().fill('sk-12345678');
    await click('button', 'Add upstream');
    await page.getByText('1. Local').waitFor();
    await click('link', 'Playground');
    await page.getByLabel('Prompt').fill('Say hello');
    expect(await page.getByLabel('Model').first().inputValue()).toBe('gpt-test');
    await click('button', 'Send');
    expect(clicks).toBe(5);
    const answer = page.getByRole('region', { name: 'Response' });
    await answer.getByText('Hello', { exact: true }).waitFor(); // before the stream has ended
    endStream();
    await answer.getByText('Hello world').waitFor();
    await answer.getByText('9', { exact: true }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    expect(await sidewaysScroll(page)).toBe(0);
    const { body } = await agent.get('/me/keys').expect(200);
    expect(body.keys).toMatchObject([{ name: 'Playground' }]);
    const lifetimeMs = Date.parse(body.keys[0].expires_at) - Date.parse(body.keys[0].created_at);
    expect(Math.round(lifetimeMs / 60_000)).toBe(60);
    expect(await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })')).not.toContain(
      'mk_',
    );
  });

  it('offers the first step without an upstream', async () => {
    const { page } = await dashboard.signedIn('user-2');
    await page.goto(dashboard.url);
    await page.getByRole('link', { name: 'Playground' }).click();
    await page.getByRole('link', { name: 'Add an upstream' }).click();
    await page.getByRole('dialog', { name: 'Add upstream' }).waitFor();
    await page.goBack();
    await page.getByText('No upstream yet').waitFor();
  });

  it('mints another key when its key was revoked', async () => {
    const { page, agent } = await openWithPrompt('user-4');
    const { body } = await agent.get('/me/keys').expect(200);
    await agent.delete(`/me/keys/${body.keys[0].id}`).expect(204);
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Hello', { exact: true }).waitFor();
    endStream();
  });

  it('never uses the key of another person', async () => {
    const { page, agent } = await dashboard.signedIn('user-5');
    const guest = await dashboard.signedIn('user-6');
    const { body: team } = await agent
      .post('/me/organizations')
      .send({ name: 'Acme', slug: 'acme-play' })
      .expect(201);
    await agent
      .post(`/me/organizations/${team.id}/upstreams`)
      .send({ name: 'Local', base_url: `${upstream.url}/v1`, api_key: 'sk-12345678' })
      .expect(201);
    const { body: invitation } = await agent
      .post(`/me/organizations/${team.id}/invite`)
      .send({ email: guest.email, role: 'member' });
    await guest.agent.post('/me/invitations/accept').send({ token: invitation.token }).expect(200);
    await page.goto(`${dashboard.url}/o/${team.id}/playground`);
    await page.getByLabel('Prompt').waitFor();
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByLabel('E-mail address').fill(guest.email);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('link', { name: 'Playground' }).click();
    await page.getByLabel('Prompt').waitFor();
    const { body } = await guest.agent.get(`/me/organizations/${team.id}/keys`).expect(200);
    expect(body.keys).toMatchObject([{ name: 'Playground', user_email: guest.email }]);
  });

  it('stops a response', async () => {
    const { page } = await openWithPrompt('user-3');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Hello', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
    expect(await page.getByRole('button', { name: 'Send' }).isEnabled()).toBe(true);
  });
});
