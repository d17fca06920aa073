import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually.js';
import { startUpstream } from '../support/fake-upstream.js';
import { CHROMIUM, describeWith } from '../support/requirements.js';
import { seriousViolations, sidewaysScroll } from './support/accessibility.js';
import { startDashboard } from './support/dashboard.js';
import type { Dashboard } from './support/dashboard.js';

describeWith(CHROMIUM, 'the upstreams page', () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard({ UPSTREAM_PRIVATE_NETWORKS: 'allow' });
  });
  afterAll(() => dashboard.close());

  const names = (page: Page) =>
    page
      .getByRole('list', { name: 'Upstreams' })
      .getByText(/^\d+\. /)
      .allTextContents();

  /** Waits until the rows are in this order, and do not move any more. */
  async function settled(page: Page, order: readonly string[]): Promise<void> {
    await eventually(async () => expect(await names(page)).toEqual(order));
    await eventually(async () => expect(await page.evaluate('document.getAnimations().length')).toBe(0));
  }

  it('adds an upstream from a preset, edits, disables and deletes it', async () => {
    const { page, agent } = await dashboard.signedIn('user-1');
    await page.goto(dashboard.url);
    await page.getByRole('link', { name: 'Upstreams' }).click();
    await page.getByRole('button', { name: 'Add upstream' }).click();
    await page.getByText('Groq', { exact: true }).click();
    expect(await page.getByLabel('Base URL').inputValue()).toBe('https://api.groq.com/openai/v1');
    await page.getByLabel('API key').first().fill('short');
    await page.getByRole('dialog').getByRole('button', { name: 'Add upstream' }).click();
    await page.getByText(/api_key must/i).waitFor();
    await page.getByLabel('API key').first().fill('gsk-secret-abcd');
    await page.getByRole('dialog').getByRole('button', { name: 'Add upstream' }).click();
    await page.getByText('key …abcd').waitFor();

    await page.getByRole('button', { name: 'Actions for Groq' }).click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    await page.getByLabel('Name').fill('Fast');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('1. Fast').waitFor();
    await page.getByRole('switch', { name: 'Fast enabled' }).click({ force: true });
    await eventually(async () => {
      const { body } = await agent.get('/me/upstreams').expect(200);
      expect(body.upstreams).toMatchObject([{ name: 'Fast', enabled: false, api_key_hint: 'abcd' }]);
    });
    await page.getByRole('button', { name: 'Actions for Fast' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete upstream' }).click();
    await page.getByText('No upstreams yet').waitFor();
  });

  it('edits model rules and failover statuses', async () => {
    const { page, agent } = await dashboard.signedIn('user-4');
    await page.goto(dashboard.url);
    await page.getByRole('link', { name: 'Connect a provider' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Groq', { exact: true }).click();
    await dialog.getByLabel('API key').first().fill('gsk-secret-abcd');
    await dialog.getByText('By rules').click();
    await dialog.getByRole('button', { name: 'Add upstream' }).click();
    await dialog.locator('[aria-label="Model of rule 1"][aria-invalid=true]').waitFor();
    await dialog.getByLabel('Model of rule 1').fill('openai/*');
    await dialog.getByLabel('Name sent by rule 1').fill('*');
    await dialog.getByRole('button', { name: 'Add rule' }).click();
    await dialog.getByLabel('Model of rule 2').fill('llama-3');
    await dialog.getByRole('button', { name: 'Move rule 2 up' }).click();
    await dialog.getByText(/^429/).click();
    expect(await seriousViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Add upstream' }).click();
    await page.getByText('1. Groq').waitFor();
    const stored = async () => (await agent.get('/me/upstreams').expect(200)).body.upstreams;
    const models = [
      { model: 'llama-3', as: null },
      { model: 'openai/*', as: '*' },
    ];
    expect(await stored()).toMatchObject([{ models, failover_on: [429] }]);
    await page.getByRole('button', { name: 'Actions for Groq' }).click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    await dialog.getByLabel('Model of rule 2').fill('llama-3');
    await dialog.getByLabel('Name sent by rule 2').fill('');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('rule 2 repeats the pattern of another rule').waitFor();
    await dialog.getByText('Every model').click();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await stored()).toMatchObject([{ models: null, failover_on: [429] }]);
  });

  it('changes the order with the keyboard, the mouse and the menu', async () => {
    const { page, agent } = await dashboard.signedIn('user-2');
    for (const name of ['A', 'B', 'C'])
      await agent
        .post('/me/upstreams')
        .send({ name, base_url: 'https://api.openai.com/v1', api_key: 'sk-12345678' })
        .expect(201);
    const stored = async () => {
      const { body } = await agent.get('/me/upstreams').expect(200);
      return (body.upstreams as { name: string }[]).map(({ name }) => name).join('');
    };
    await page.goto(dashboard.url);
    await page.getByRole('link', { name: 'Upstreams' }).click();
    await page.getByRole('button', { name: 'Actions for C' }).click();
    await page.getByRole('menuitem', { name: 'Move up' }).click();
    await eventually(async () => expect(await stored()).toBe('ACB'));
    await eventually(async () => expect(await names(page)).toEqual(['1. A', '2. C', '3. B']));

    await page.locator(':focus[aria-label="Actions for C"]').waitFor(); // the menu has closed
    await page.getByRole('button', { name: 'Move A' }).focus();
    await page.keyboard.press('Space');
    await page.getByText('A is at position 1.').waitFor({ state: 'attached' });
    await page.keyboard.press('ArrowDown');
    await page.getByText('A is at position 2.').waitFor({ state: 'attached' });
    await page.keyboard.press('Space');
    await eventually(async () => expect(await stored()).toBe('CAB'));
    await settled(page, ['1. C', '2. A', '3. B']);

    const from = (await page.getByRole('button', { name: 'Move B' }).boundingBox())!;
    const to = (await page.getByRole('button', { name: 'Move C' }).boundingBox())!;
    await page.mouse.move(from.x + 10, from.y + 10);
    await page.mouse.down();
    await page.mouse.move(to.x + 10, to.y + 20, { steps: 10 });
    await page.mouse.move(to.x + 10, to.y, { steps: 5 });
    await page.getByText('B is at position 1.').waitFor({ state: 'attached' });
    await page.mouse.up();
    await eventually(async () => expect(await stored()).toBe('BCA'));
    expect(await seriousViolations(page)).toEqual([]);
    expect(await sidewaysScroll(page)).toBe(0);
  });

  it('tests the connection', async () => {
    const upstream = await startUpstream();
    const { page, agent } = await dashboard.signedIn('user-3');
    for (const [name, base_url] of [
      ['Good', `${upstream.url}/v1`],
      ['Bad', 'http://127.0.0.1:9/v1'],
    ] as const)
      await agent.post('/me/upstreams').send({ name, base_url, api_key: 'sk-12345678' }).expect(201);
    await page.goto(dashboard.url);
    await page.getByRole('link', { name: 'Upstreams' }).click();
    await page.getByRole('button', { name: 'Test Good' }).click();
    await page.getByText(/works, \d+ ms/).waitFor();
    await page.getByRole('button', { name: 'Test Bad' }).click();
    await page.getByText(/^fails: /).waitFor();
    await upstream.close();
  });

  it('tells members that the page is only for admins', async () => {
    const [ada, bob] = [await dashboard.signedIn('ada'), await dashboard.signedIn('bob')];
    const { body: team } = await ada.agent
      .post('/me/organizations')
      .send({ name: 'Acme', slug: 'acme' })
      .expect(201);
    const invited = await ada.agent
      .post(`/me/organizations/${team.id}/invite`)
      .send({ email: bob.email, role: 'member' })
      .expect(201);
    await bob.agent.post('/me/invitations/accept').send({ token: invited.body.token }).expect(200);
    await bob.page.goto(`${dashboard.url}/o/${team.id}/upstreams`);
    await bob.page.getByRole('heading', { name: 'Only for admins' }).waitFor();
    expect(await bob.page.getByRole('button', { name: 'Add upstream' }).count()).toBe(0);
  });
});
