import { eventually } from '../support/eventually.js';
import { startUpstream } from '../support/fake-upstream.js';
import type { FakeUpstream } from '../support/fake-upstream.js';
import { CHROMIUM, describeWith } from '../support/requirements.js';
import { seriousViolations } from './support/accessibility.js';
import { startDashboard } from './support/dashboard.js';
import type { Dashboard, Person } from './support/dashboard.js';

const MODELS = { object: 'list', data: [{ id: 'house-model', object: 'model' }] };
const USAGE = { prompt_tokens: 1_000, completion_tokens: 500, total_tokens: 1_500 };
const event = (payload: object) => `data: ${JSON.stringify(payload)}\n\n`;

describeWith(CHROMIUM, 'prices and costs in the dashboard', () => {
  let dashboard: Dashboard;
  let upstream: FakeUpstream;
  let person: Person;
  beforeAll(async () => {
    dashboard = await startDashboard({ UPSTREAM_PRIVATE_NETWORKS: 'allow' });
    upstream = await startUpstream((request, response) => {
      if (request.url!.endsWith('/models'))
        return response.setHeader('Content-Type', 'application/json').end(JSON.stringify(MODELS));
      const delta = { choices: [{ index: 0, delta: { content: 'Hello' } }] };
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.end(`${event(delta)}${event({ choices: [], usage: USAGE })}data: [DONE]\n\n`);
    });
    person = await dashboard.signedIn('ada');
    const added = { name: 'House', base_url: `${upstream.url}/v1`, api_key: 'sk-12345678' };
    await person.agent.post('/me/upstreams').send(added).expect(201);
  });
  afterAll(async () => {
    await upstream.close();
    await dashboard.close();
  });

  async function sendPrompt(): Promise<void> {
    const { page } = person;
    await page.goto(dashboard.url);
    await page.getByRole('link', { name: 'Playground' }).click();
    await page.getByLabel('Prompt').fill('Say hello');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Hello', { exact: true }).waitFor();
  }

  const storedPrices = async () => {
    const { body } = await person.agent.get('/me/organizations').expect(200);
    return (await person.agent.get(`/me/organizations/${body.organizations[0].id}/prices`).expect(200)).body
      .prices;
  };

  it('names models without a price, gives them one, and shows the cost of later requests', async () => {
    const { page } = person;
    await sendPrompt();
    const answer = page.getByRole('region', { name: 'Response' });
    await answer.getByText('unknown').waitFor();
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByRole('link', { name: 'See the prices' }).click();
    await page.getByRole('heading', { name: 'Used without a price' }).waitFor();
    await page.getByRole('button', { name: 'Add price' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Add price' });
    expect(await dialog.getByLabel('Model').inputValue()).toBe('house-model');
    await dialog.getByRole('button', { name: 'Add price' }).click();
    await dialog.getByText('Enter a price. It can be 0.').first().waitFor();
    await dialog.getByLabel('Input', { exact: true }).fill('2');
    await dialog.getByLabel('Output').fill('10');
    expect(await seriousViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Add price' }).click();
    await page.getByRole('table', { name: 'Own prices' }).getByText('$10.00').waitFor();
    await eventually(async () => {
      await sendPrompt();
      await answer.getByText('$0.007').or(answer.getByText('unknown')).waitFor();
      expect(await answer.getByText('$0.007').count()).toBe(1);
    });
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByText('Requests', { exact: true }).first().click();
    await page
      .getByText(/1,500 tokens, \$0\.007/)
      .first()
      .waitFor();
  });

  it('changes the order of prices, edits and deletes one', async () => {
    const { page } = person;
    await page.goto(dashboard.url);
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('tab', { name: 'Prices' }).click();
    await page.getByRole('button', { name: 'Add price' }).last().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Model').fill('house-*');
    await dialog.getByLabel('Input', { exact: true }).fill('1');
    await dialog.getByLabel('Output').fill('1');
    await dialog.getByRole('button', { name: 'Add price' }).click();
    await page.getByRole('button', { name: 'Actions for the price of house-*' }).click();
    await page.getByRole('menuitem', { name: 'Move up' }).click();
    await eventually(async () =>
      expect(await storedPrices()).toMatchObject([{ model: 'house-*' }, { model: 'house-model' }]),
    );
    await page.getByRole('button', { name: 'Actions for the price of house-*' }).click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    await dialog.getByLabel('Output').fill('3');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('$3.00').waitFor();
    await page.getByRole('button', { name: 'Actions for the price of house-model' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await dialog.getByRole('button', { name: 'Delete price' }).click();
    await eventually(async () =>
      expect(await storedPrices()).toMatchObject([{ model: 'house-*', output: 3 }]),
    );
  });
});
