import { eventually } from '../support/eventually.js';
import { CHROMIUM, describeWith } from '../support/requirements.js';
import { seriousViolations, sidewaysScroll } from './support/accessibility.js';
import { startDashboard } from './support/dashboard.js';
import type { Dashboard } from './support/dashboard.js';

describeWith(CHROMIUM, 'the keys page', () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard();
  });
  afterAll(() => dashboard.close());

  it('mints a key that works, shows it once, and revokes it', async () => {
    const { page } = await dashboard.signedIn('minter');
    await page.goto(dashboard.url);
    await page.getByRole('link', { name: 'Keys' }).click();
    const command = page.getByLabel('Get a key from the command line', { exact: true });
    expect(await command.inputValue()).toBe(`npx -p mintkeep-cli mintkeep login ${dashboard.url}`);
    await page.getByRole('button', { name: 'Mint a key' }).click();
    await page.getByLabel('Name').fill('Laptop');
    await page.getByLabel('Expires').selectOption('30');
    await page.getByRole('button', { name: 'Mint', exact: true }).click();
    const secret = await page.getByLabel('Key', { exact: true }).inputValue();
    for (const name of ['curl', 'OpenAI (Python)', 'Claude Code', 'Codex', 'Environment']) {
      await page.getByRole('tab', { name }).click();
      expect(await page.locator('.snippet pre').textContent()).toContain(secret);
    }
    expect(await seriousViolations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    expect(await page.getByLabel('Key', { exact: true }).inputValue()).toBe(secret);
    const use = () => dashboard.app.anonymous.get('/v1/models').set('Authorization', `Bearer ${secret}`);
    expect((await use()).status).toBe(503); // no upstream yet
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByText('Laptop').waitFor();
    await page.getByText(/expires in/).waitFor();
    expect(await page.getByText(secret).count()).toBe(0);

    await page.getByRole('button', { name: 'Actions for Laptop' }).click();
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Old laptop');
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByText('Old laptop').waitFor();
    await page.getByRole('button', { name: 'Actions for Old laptop' }).click();
    await page.getByRole('menuitem', { name: 'Revoke' }).click();
    await page.getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByText('No keys yet').waitFor();
    expect((await use()).status).toBe(401);
    await page.getByRole('switch', { name: 'Show revoked' }).check({ force: true });
    await page.getByText('revoked', { exact: true }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    expect(await sidewaysScroll(page)).toBe(0);
  });

  it('shows ages that advance, and never an event in the future', async () => {
    const { page, agent } = await dashboard.signedIn('clock');
    await agent.post('/me/keys').send({ name: 'Laptop' }).expect(201);
    await page.clock.install({ time: Date.now() - 300_000 }); // a clock that is five minutes slow
    await page.goto(dashboard.url);
    await page.getByRole('link', { name: 'Keys' }).click();
    await page.getByText('minted just now').waitFor();
    await page.clock.fastForward(900_000);
    await page.getByText(/minted (9|1\d) minutes ago/).waitFor(); // more on a slow machine
  });

  it('leads back to the view before', async () => {
    const { page } = await dashboard.signedIn('back');
    await page.goto(dashboard.url);
    await page.getByRole('link', { name: 'Keys' }).click();
    const revoked = page.getByRole('switch', { name: 'Show revoked' });
    await revoked.check({ force: true });
    await page.waitForURL(/revoked=true/);
    await page.goBack();
    await eventually(async () => expect(await revoked.isChecked()).toBe(false));
    expect(page.url()).toMatch(/keys$/);
  });

  it('shows admins all keys of the team, which they can revoke, and members their own', async () => {
    const ada = await dashboard.signedIn('ada-keys');
    const bob = await dashboard.signedIn('bob-keys');
    const { body: team } = await ada.agent
      .post('/me/organizations')
      .send({ name: 'Acme', slug: 'acme-keys' });
    const { body: invitation } = await ada.agent
      .post(`/me/organizations/${team.id}/invite`)
      .send({ email: bob.email, role: 'member' });
    await bob.agent.post('/me/invitations/accept').send({ token: invitation.token }).expect(200);
    await ada.agent.post(`/me/organizations/${team.id}/keys`).send({ name: 'Key of Ada' }).expect(201);
    await bob.agent.post(`/me/organizations/${team.id}/keys`).send({ name: 'Key of Bob' }).expect(201);
    await bob.page.goto(`${dashboard.url}/o/${team.id}/keys`);
    await bob.page.getByText('Key of Bob').waitFor();
    expect(await bob.page.getByText('Key of Ada').count()).toBe(0);
    await ada.page.goto(`${dashboard.url}/o/${team.id}/keys`);
    await ada.page.getByText(bob.email).waitFor();
    await ada.page.getByRole('button', { name: 'Actions for Key of Bob' }).click();
    await ada.page.getByRole('menuitem', { name: 'Revoke' }).click();
    await ada.page.getByRole('button', { name: 'Revoke', exact: true }).click();
    await ada.page.getByRole('listitem').filter({ hasText: 'Key of Bob' }).waitFor({ state: 'detached' });
    await bob.page.reload();
    await bob.page.getByText('No keys yet').waitFor();
  });
});
