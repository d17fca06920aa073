import { startApp } from '../support/app.js';
import type { Agent, TestApp } from '../support/app.js';
import { CliUser } from '../support/cli.js';
import type { CliResult } from '../support/cli.js';
import { recordAll, usageRecord } from '../support/usage.js';

let app: TestApp;
let ada: Agent;
let user: CliUser;
let env: { MINTKEEP_URL: string; MINTKEEP_API_KEY: string };

beforeAll(async () => {
  app = await startApp();
  ada = await app.as('ada');
  user = await CliUser.create();
});
afterAll(() => app.close());

const run = (args: string[]): Promise<CliResult> => user.run(args, { env });

const day = (age: number) => new Date(Date.now() - age * 24 * 3_600_000).toISOString();

beforeEach(async () => {
  const { body: key } = await ada.post('/me/keys').send({ name: 'cli' }).expect(201);
  env = { MINTKEEP_URL: app.url, MINTKEEP_API_KEY: key.api_key };
  const { body } = await ada.get('/me/organizations').expect(200);
  const of = (age: number, model: string) =>
    usageRecord({
      ...{ key_id: key.id, user_id: 'ada', organization_id: body.organizations[0].id },
      ...{ model, at: day(age), cost_usd: 0.25 },
    });
  await recordAll(app, [of(0, 'gpt-4o'), of(0, 'gpt-4o'), of(1, 'gpt-5\u001b[2J'), of(5, 'gpt-5')]);
});

it('prints a table by day and model', async () => {
  const { code, stdout } = await run(['usage', '--days', '2']);
  expect(code).toBe(0);
  const rows = stdout.trimEnd().split('\n');
  expect(rows[0]).toMatch(/^Day\s+Model\s+Requests\s+Input\s+Output\s+Tokens\s+Cost$/);
  expect(rows.slice(1).map((row) => row.trim().split(/\s{2,}/))).toEqual([
    [day(1).slice(0, 10), 'gpt-5 [2J', '1', '10', '5', '15', '$0.25'],
    [day(0).slice(0, 10), 'gpt-4o', '2', '20', '10', '30', '$0.50'],
    ['Total', '3', '30', '15', '45', '$0.75'],
  ]);
  expect(stdout).not.toContain('█');
});

it('draws bars on a terminal', async () => {
  const { stdout } = await user.startInTerminal(['usage'], env).result;
  expect(stdout.match(/█+/g)?.map((bar) => bar.length)).toEqual([10, 10, 20]);
});

it('prints the usage as JSON', async () => {
  const { stdout } = await run(['usage', '--days', '1', '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ bucket: 'day', totals: { requests: 2 } });
});

it('says that there is none', async () => {
  const other = (await ada.post('/me/keys').send({}).expect(201)).body;
  env = { ...env, MINTKEEP_API_KEY: other.api_key };
  expect((await run(['usage'])).stdout).toBe('No requests in the last 30 days.\n');
});

it.each(['0', '91', 'x', '-1', '1.5'])('rejects --days %s', async (days) => {
  expect((await run(['usage', `--days=${days}`])).code).toBe(2);
});
