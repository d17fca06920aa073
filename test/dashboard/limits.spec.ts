import type { Page } from 'playwright-core';
import { CHROMIUM, describeWith } from '../support/requirements.js';
import { recordAll, usageRecord } from '../support/usage.js';
import { seriousViolations, sidewaysScroll } from './support/accessibility.js';
import { startDashboard } from './support/dashboard.js';
import { noticed } from './support/notices.js';
import type { Dashboard, Person } from './support/dashboard.js';

describeWith(CHROMIUM, 'limits in the dashboard', () => {
  let dashboard: Dashboard;
  let ada: Person;
  let bob: Person;
  let team: number;
  beforeAll(async () => {
    dashboard = await startDashboard();
    [ada, bob] = [await dashboard.signedIn('ada'), await dashboard.signedIn('bob')];
    const { body } = await ada.agent
      .post('/me/organizations')
      .send({ name: 'Acme', slug: 'acme' })
      .expect(201);
    team = body.id;
    for (const [person, role] of [[bob, 'admin']] as const) {
      const invited = await ada.agent
        .post(`/me/organizations/${team}/invite`)
        .send({ email: person.email, role })
        .expect(201);
      await person.agent.post('/me/invitations/accept').send({ token: invited.body.token }).expect(200);
    }
  });
  afterAll(() => dashboard.close());

  const openLimits = ({ page }: Person) => page.goto(`${dashboard.url}/o/${team}/settings/limits`);
  const section = (page: Page, name: string) =>
    page.locator('section').filter({ has: page.getByRole('heading', { name }) });
  const stored = async () => (await ada.agent.get(`/me/organizations/${team}/limits`).expect(200)).body;

  it('sets limits of the team and of each member, which are kept apart', async () => {
    await openLimits(ada);
    const ofTeam = section(ada.page, 'Limits of the team');
    await ofTeam.getByLabel('Requests per minute').fill('600');
    await ofTeam.getByLabel('Budget').fill('100');
    await ofTeam.getByLabel('Period').selectOption('week');
    await ofTeam.getByRole('button', { name: 'Save' }).click();
    await noticed(ada.page, /^The limits were saved\./);
    const ofMember = section(ada.page, 'Limits of each member');
    await ofMember.getByLabel('Allowed models').fill('gpt-*');
    await ofMember.getByLabel('Allowed models').press('Enter');
    await ofMember.getByRole('button', { name: 'Save' }).click();
    await ada.page.getByText('What members use').or(ada.page.getByText(bob.email)).first().waitFor();
    expect(await stored()).toMatchObject({
      organization: { requests_per_minute: 600, budget: { usd: 100, period: 'week' }, models: null },
      member: { requests_per_minute: null, budget: null, models: ['gpt-*'] },
    });
    await ofTeam.getByLabel('Requests per minute').fill('');
    await ofTeam.getByRole('button', { name: 'Save' }).click();
    await ofTeam.getByText('Requests, last minute').waitFor({ state: 'detached' });
    expect((await stored()).organization).toMatchObject({ requests_per_minute: null, budget: { usd: 100 } });
  });

  it('explains a value that the service rejects, at its field', async () => {
    await openLimits(ada);
    const ofTeam = section(ada.page, 'Limits of the team');
    await ofTeam.getByLabel('Requests per minute').fill('0');
    await ofTeam.getByRole('button', { name: 'Save' }).click();
    await ofTeam.getByText(/requests_per_minute must/i).waitFor();
  });

  it('does not overwrite what another admin changed meanwhile', async () => {
    await openLimits(ada);
    await openLimits(bob);
    const of = ({ page }: Person) => section(page, 'Limits of the team');
    await of(ada).getByLabel('Tokens per minute').fill('1000');
    await of(bob).getByLabel('Tokens per minute').fill('2000');
    await of(ada).getByRole('button', { name: 'Save' }).click();
    await of(ada).getByText('Tokens, last minute').waitFor();
    await of(bob).getByRole('button', { name: 'Save' }).click();
    await noticed(bob.page, /^Someone else changed this meanwhile/);
    expect(await of(bob).getByLabel('Tokens per minute').inputValue()).toBe('1,000');
    expect((await stored()).organization.tokens_per_minute).toBe(1000);
    await of(bob).getByLabel('Tokens per minute').fill('2000');
    await of(bob).getByRole('button', { name: 'Save' }).click();
    await of(bob).getByText('0 of 2,000').waitFor();
    expect((await stored()).organization.tokens_per_minute).toBe(2000);
  });

  it('shows what is used of a budget, and what remains', async () => {
    const body = { organization: { budget: { usd: 10, period: 'month' } }, member: {} };
    await ada.agent.put(`/me/organizations/${team}/limits`).send(body).expect(200);
    const { body: key } = await ada.agent
      .post(`/me/organizations/${team}/keys`)
      .send({ name: 'CI' })
      .expect(201);
    const fields = { organization_id: team, key_id: key.id, cost_usd: 9 };
    await recordAll(dashboard.app, [usageRecord(fields)]);
    await openLimits(ada);
    await ada.page.getByText('$9.00 of $10.00').waitFor();
    await ada.page.getByText(/\$1\.00 left, renewed/).waitFor();
    await ada.page.goto(`${dashboard.url}/o/${team}/usage`);
    const budgets = ada.page.getByRole('region', { name: 'Budgets' });
    await budgets.getByText('$9.00 of $10.00').waitFor();
    expect(await seriousViolations(ada.page)).toEqual([]);
    expect(await sidewaysScroll(ada.page)).toBe(0);
    await ada.page.setViewportSize({ width: 1_280, height: 800 });
  });

  it('sets limits of a key, which its holder sees', async () => {
    const { body: key } = await bob.agent
      .post(`/me/organizations/${team}/keys`)
      .send({ name: 'Laptop of Bob' })
      .expect(201);
    await ada.page.goto(`${dashboard.url}/o/${team}/keys`);
    await ada.page.getByRole('button', { name: 'Actions for Laptop of Bob' }).click();
    await ada.page.getByRole('menuitem', { name: 'Limits' }).click();
    const dialog = ada.page.getByRole('dialog', { name: 'Limits of Laptop of Bob' });
    await dialog.getByLabel('Requests per minute').fill('5');
    expect(await seriousViolations(ada.page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    await ada.agent
      .put(`/me/organizations/${team}/members/${await userIdOf(bob)}`)
      .send({ role: 'member' })
      .expect(200);
    await bob.page.goto(`${dashboard.url}/o/${team}/keys`);
    await bob.page.getByText(/Limits: .*5 requests/).waitFor();
    await bob.page.getByRole('button', { name: 'Actions for Laptop of Bob' }).click();
    await bob.page.getByRole('menuitem', { name: 'Limits' }).click();
    await bob.page.getByText('Only admins of the team can change them.').waitFor();
    expect(await bob.page.getByRole('dialog').getByRole('button', { name: 'Save' }).count()).toBe(0);
    await openLimits(bob);
    await section(bob.page, 'Limits of the team').waitFor();
    expect(await bob.page.getByRole('button', { name: 'Save' }).count()).toBe(0);
    expect(key.id).toBeGreaterThan(0);
  });

  async function userIdOf({ email }: Person): Promise<string> {
    const { body } = await ada.agent.get(`/me/organizations/${team}/members`).expect(200);
    return (body.members as { email: string; user_id: string }[]).find((member) => member.email === email)!
      .user_id;
  }
});
