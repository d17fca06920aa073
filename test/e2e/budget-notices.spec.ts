import { BudgetMailer } from '../../src/limits/notices/budget-mailer.js';
import { BudgetNotices } from '../../src/limits/notices/budget-notices.js';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { join, teamOwner } from '../support/owners.js';
import type { TestOwner } from '../support/owners.js';
import { inParallel } from '../support/parallel.js';
import { emailOf } from '../support/sessions.js';
import { startSmtp } from '../support/smtp.js';
import type { Smtp } from '../support/smtp.js';
import { recordAll, usageRecord } from '../support/usage.js';

let smtp: Smtp;
let apps: TestApp[];
let team: TestOwner;

beforeAll(async () => {
  smtp = await startSmtp();
  const variables = {
    SMTP_URL: smtp.url,
    MAIL_FROM: 'noreply@mintkeep.example',
    DASHBOARD_URL: 'https://app.example.com',
  };
  const first = await startApp(variables);
  apps = [first, await startApp(variables, first)];
});
afterAll(async () => {
  for (const app of apps.toReversed()) await app.close();
  await smtp.stop();
});
beforeEach(async () => {
  smtp.mails.length = 0;
  team = await teamOwner(apps[0]!);
  await join(apps[0]!, team, `second-admin-${team.organizationId}`, 'admin');
  await join(apps[0]!, team, `reader-${team.organizationId}`, 'member');
  smtp.mails.length = 0;
});

const setBudget = (usd: number, period = 'month') =>
  team.admin
    .put(`${team.base}/limits`)
    .send({ organization: { budget: { usd, period } } })
    .expect(200);
const spend = (cost_usd: number) =>
  recordAll(apps[0]!, [usageRecord({ organization_id: team.organizationId, user_id: team.user, cost_usd })]);
const checkAll = () =>
  inParallel(8, (i) => apps[i % 2]!.app.get(BudgetNotices, { strict: false }).checkAll());
const mails = () => smtp.mails.filter(({ text }) => text.includes('budget'));

async function shares(): Promise<number[]> {
  const { body } = await team.admin.get(`${team.base}/audit`).expect(200);
  return (body.events as { action: string; actor: unknown; details: { share: number } }[])
    .filter(({ action, actor }) => action === 'budget.reached' && actor === null)
    .map(({ details }) => details.share)
    .sort((a, b) => a - b);
}

it('a jump past both shares leaves one event and one mail of each for every admin, on all replicas together', async () => {
  await setBudget(10);
  await spend(12);
  await checkAll();
  expect(await shares()).toEqual([80, 100]);
  await eventually(() => expect(mails()).toHaveLength(4));
  const recipients = new Set(mails().flatMap(({ to }) => to));
  expect(recipients).toEqual(new Set([team.user, `second-admin-${team.organizationId}`].map(emailOf)));
  expect(
    mails()
      .map(({ text }) => /used the budget|80 %/.exec(text)?.[0])
      .sort(),
  ).toEqual([...['80 %', '80 %'], ...['used the budget', 'used the budget']]);
  expect(mails()[0]!.text).toContain('https://app.example.com');
  await checkAll();
  expect(await shares()).toEqual([80, 100]);
});

it('a changed budget of the same period leaves no second notice, another period does', async () => {
  await setBudget(10);
  await spend(8);
  await checkAll();
  await setBudget(9);
  await checkAll();
  expect(await shares()).toEqual([80]);
  await setBudget(8, 'total');
  await checkAll();
  expect(await shares()).toEqual([80, 80, 100]);
});

it('less than 80 % leaves none', async () => {
  await setBudget(10);
  await spend(7.9999);
  await checkAll();
  expect(await shares()).toEqual([]);
});

it('a mail that cannot be sent is sent later', async () => {
  const refused = new Set<string>();
  smtp.onMail = ({ to, text }) => {
    if (text.includes('(1 USD)')) refused.add(to.join());
    return Promise.reject(new Error('try again'));
  };
  await setBudget(1);
  await spend(0.9);
  await checkAll();
  await eventually(() => expect(refused.size).toBe(2));
  smtp.onMail = () => undefined;
  const queued = 'budget_mails WHERE organization_id = $1';
  const { query } = apps[0]!.database;
  await query(`UPDATE ${queued.replace('WHERE', 'SET due_at = now() WHERE')}`, [team.organizationId]);
  await apps[0]!.app.get(BudgetMailer, { strict: false }).deliver();
  await eventually(async () =>
    expect(await query(`SELECT id FROM ${queued}`, [team.organizationId])).toEqual([]),
  );
  expect(mails().filter(({ text }) => text.includes('(1 USD)'))).toHaveLength(2);
});
