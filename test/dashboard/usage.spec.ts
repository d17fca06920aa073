import { readFile } from 'node:fs/promises';
import { eventually } from '../support/eventually.js';
import { startUpstream } from '../support/fake-upstream.js';
import type { FakeUpstream } from '../support/fake-upstream.js';
import { CHROMIUM, describeWith } from '../support/requirements.js';
import { seriousViolations, sidewaysScroll } from './support/accessibility.js';
import { startDashboard } from './support/dashboard.js';
import type { Dashboard, Person } from './support/dashboard.js';

const COMPLETION = {
  id: 'c1',
  object: 'chat.completion',
  model: 'gpt-test',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 12, completion_tokens: 30, total_tokens: 42 },
};

describeWith(CHROMIUM, 'the usage page', () => {
  let dashboard: Dashboard;
  let upstream: FakeUpstream;
  let person: Person;
  beforeAll(async () => {
    dashboard = await startDashboard({ UPSTREAM_PRIVATE_NETWORKS: 'allow' });
    upstream = await startUpstream((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(COMPLETION));
    });
    person = await dashboard.signedIn('user-1');
    const { agent } = person;
    const add = (name: string, base_url: string, priority: number) =>
      agent.post('/me/upstreams').send({ name, base_url, priority, api_key: 'sk-12345678' }).expect(201);
    await add('Broken', 'http://127.0.0.1:9/v1', 1);
    await add('Good', `${upstream.url}/v1`, 2);
    const { body: key } = await agent.post('/me/keys').send({ name: 'Laptop' }).expect(201);
    for (const model of ['gpt-test', 'gpt-test', 'other'])
      await dashboard.app.anonymous
        .post('/v1/chat/completions')
        .set('Authorization', `Bearer ${key.api_key}`)
        .send({ model, messages: [] })
        .expect(200);
    await eventually(async () => {
      const { body } = await agent.get('/me/usage').expect(200);
      expect(body.totals.requests).toBe(3);
    });
  });
  afterAll(async () => {
    await upstream.close();
    await dashboard.close();
  });

  it('shows totals, a chart and a top list, and keeps the view in the URL', async () => {
    const { page } = person;
    await page.goto(dashboard.url);
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByRole('button', { name: 'Requests 3' }).waitFor();
    await page.getByRole('img', { name: 'requests over time' }).waitFor();
    const table = page.getByRole('table', { name: 'Top list by model' });
    expect(await table.getByRole('row').nth(1).textContent()).toContain('gpt-test');
    await page.getByRole('button', { name: 'Tokens 126' }).click();
    await page.getByRole('img', { name: 'tokens over time' }).waitFor();
    await page.getByLabel('Group').selectOption('key');
    await page.getByRole('table', { name: 'Top list by key' }).getByText('Laptop').waitFor();
    await page.getByText('24 hours').click();
    await page.waitForURL(/metric=tokens.*group=key.*range=24h/);
    await page.reload();
    await page.getByRole('table', { name: 'Top list by key' }).waitFor();
    await page.getByRole('img', { name: 'tokens over time' }).waitFor();
    await page.getByRole('button', { name: /^Latency/ }).click();
    await page.getByRole('img', { name: 'latency over time' }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    expect(await sidewaysScroll(page)).toBe(0);
  });

  it.each([
    ['upstream', 'Good'],
    ['user', 'user-1@example.com'],
    ['provider', /^(?!none).+/],
  ])('groups by %s', async (group, name) => {
    const { page } = person;
    await page.setViewportSize({ width: 1_280, height: 800 });
    await page.goto(dashboard.url);
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByLabel('Group').selectOption(group);
    const table = page.getByRole('table', { name: `Top list by ${group}` });
    await table.getByRole('cell').first().getByText(name).waitFor();
  });

  it('leads back through the views', async () => {
    const { page } = person;
    await page.setViewportSize({ width: 1_280, height: 800 });
    await page.goto(dashboard.url);
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByLabel('Group').selectOption('key');
    await page.getByRole('table', { name: 'Top list by key' }).waitFor();
    await page.getByText('24 hours').click();
    await page.waitForURL(/range=24h/);
    await page.getByText('Requests', { exact: true }).first().click();
    await page.getByRole('button', { name: /chat\/completions \(other\)/ }).waitFor();
    await page.goBack();
    await page.waitForURL(/range=24h(?!.*tab=requests)/);
    await page.goBack();
    await page.waitForURL(/group=key(?!.*range=24h)/);
    await page.goBack();
    await page.getByRole('table', { name: 'Top list by model' }).waitFor();
  });

  it('lists requests with the attempts of each', async () => {
    const { page } = person;
    await page.setViewportSize({ width: 1_280, height: 800 });
    await page.goto(dashboard.url);
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByText('Requests', { exact: true }).first().click();
    await page.getByRole('button', { name: /chat\/completions \(other\)/ }).click();
    const attempts = page.getByRole('list', { name: 'Attempts' }).getByRole('listitem');
    await attempts.first().waitFor();
    expect(await attempts.allTextContents()).toEqual([
      expect.stringMatching(/^Broken: /),
      expect.stringMatching(/^Good: status 200/),
    ]);
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole('switch', { name: 'Only errors' }).check({ force: true });
    await page.getByText('There are none in this time and with this filter.').waitFor();
  });

  it('filters requests by model, upstream and key, and keeps the filters in the URL', async () => {
    const { page } = person;
    await page.setViewportSize({ width: 1_280, height: 800 });
    await page.goto(dashboard.url);
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByText('Requests', { exact: true }).first().click();
    const rows = page.getByRole('button', { name: /chat\/completions/ });
    await eventually(async () => expect(await rows.count()).toBe(3));
    await page.getByLabel('Model').selectOption('gpt-test');
    await eventually(async () => expect(await rows.count()).toBe(2));
    await page.getByLabel('Upstream').selectOption('Good');
    await page.getByLabel('Key').selectOption('Laptop');
    await page.waitForURL(/model=gpt-test.*upstream=\d+.*key=\d+/);
    await page.reload();
    await eventually(async () => expect(await rows.count()).toBe(2));
    await page.getByRole('link', { name: 'Keys' }).click();
    await page.getByText('Laptop').waitFor();
    await page.goBack();
    await eventually(async () => expect(await rows.count()).toBe(2));
    expect(await page.getByLabel('Model').inputValue()).toBe('gpt-test');
    await page.getByLabel('Model').selectOption('');
    await eventually(async () => expect(await rows.count()).toBe(3));
  });

  it('saves the current view as CSV', async () => {
    const { page } = person;
    await page.goto(dashboard.url);
    await page.getByRole('link', { name: 'Usage' }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('usage-charts-30d.csv');
    expect(await readFile(await download.path(), 'utf8')).toMatch(/,gpt-test,2,/);
    await page.getByText('Requests', { exact: true }).first().click();
    await page.getByRole('button', { name: /chat\/completions \(other\)/ }).waitFor();
    const [requests] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV' }).click(),
    ]);
    expect(requests.suggestedFilename()).toBe('usage-requests-30d.csv');
    expect((await readFile(await requests.path(), 'utf8')).trim().split('\n')).toHaveLength(4);
  });
});
