import { CHROMIUM, describeWith } from '../support/requirements.js';
import { seriousViolations, sidewaysScroll } from './support/accessibility.js';
import { startDashboard } from './support/dashboard.js';
import type { Dashboard } from './support/dashboard.js';

describeWith(CHROMIUM, 'the settings page', () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard();
  });
  afterAll(() => dashboard.close());

  it('renames and deletes a team', async () => {
    const { page, agent } = await dashboard.signedIn('user-1');
    const { body: team } = await agent
      .post('/me/organizations')
      .send({ name: 'Acme', slug: 'acme-settings' });
    await agent.post(`/me/organizations/${team.id}/keys`).send({ name: 'Laptop' }).expect(201);
    await page.goto(`${dashboard.url}/o/${team.id}/settings`);
    await page.getByLabel('Name').fill('Acme Research');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Switch from Acme Research' }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    expect(await sidewaysScroll(page)).toBe(0);
    await page.setViewportSize({ width: 1_280, height: 800 });
    await page.getByRole('button', { name: 'Delete Acme Research' }).click();
    await page.getByText('1 keys, which are revoked at once').waitFor();
    await page.getByLabel('Type “acme-settings” to confirm').fill('acme-settings');
    await page.getByRole('button', { name: 'Delete the team' }).click();
    await page.getByRole('button', { name: 'Switch from Personal' }).waitFor();
    await agent.get(`/me/organizations/${team.id}`).expect(404);
  });

  it('shows the version, and no team settings in the personal place', async () => {
    const { page } = await dashboard.signedIn('user-2');
    await page.goto(dashboard.url);
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByText(/dashboard 0\.2\.0/).waitFor();
    expect(await page.getByText('Delete the team').count()).toBe(0);
  });
});
