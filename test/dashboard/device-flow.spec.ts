import type { Page } from 'playwright-core';
import { beginLogin, KEY, poll } from '../support/device-flow.js';
import { CHROMIUM, describeWith } from '../support/requirements.js';
import { seriousViolations, sidewaysScroll } from './support/accessibility.js';
import { startDashboard } from './support/dashboard.js';
import type { Dashboard } from './support/dashboard.js';

describeWith(CHROMIUM, 'the device flow through the dashboard', () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard();
  });
  afterAll(() => dashboard.close());

  const device = { name: 'mintkeep', hostname: 'laptop' };

  async function signIn(page: Page, email: string): Promise<void> {
    await page.getByRole('heading', { name: 'Sign in to mintkeep' }).waitFor();
    await page.getByLabel('E-mail address').fill(email);
    await page.getByRole('button', { name: 'Sign in' }).click();
  }

  it('leads from the code through the sign-in to the approval, and the device gets its key', async () => {
    const login = await beginLogin(dashboard.app, device);
    const { page, problems } = await dashboard.open();
    await page.goto(login.verification_uri_complete);
    await signIn(page, 'ada@example.com');
    await page.getByText(login.user_code).waitFor();
    expect(new URL(page.url()).pathname).toBe('/auth/device');
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('heading', { name: /approved|connected|has its key|signed in/i }).waitFor();
    expect(await poll(dashboard.app, login.device_code)).toMatch(KEY);
    await page.goto(dashboard.url);
    await page.getByRole('link', { name: 'Keys' }).click();
    await page.getByText('from laptop').waitFor();
    expect(problems).toEqual([]);
  });

  /** Opens the approval page, signed in as Ada, and follows the link to another account. */
  async function useAnotherAccount(page: Page): Promise<void> {
    const login = await beginLogin(dashboard.app, device);
    await page.goto(login.verification_uri_complete);
    await signIn(page, 'ada@example.com');
    await page.getByRole('link', { name: 'Use another account' }).click();
    await page.getByRole('button', { name: 'Continue as ada@example.com' }).waitFor();
  }

  it('lets the person use another account', async () => {
    const { page } = await dashboard.open();
    await useAnotherAccount(page);
    expect(await seriousViolations(page)).toEqual([]);
    await signIn(page, 'bob@example.com');
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    await page.getByText('bob@example.com').waitFor();
  });

  it('lets the person keep the account after all', async () => {
    const { page } = await dashboard.open();
    await useAnotherAccount(page);
    await page.getByRole('button', { name: 'Continue as ada@example.com' }).click();
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    await page.getByText('ada@example.com').waitFor();
  });

  it('can be denied', async () => {
    const login = await beginLogin(dashboard.app, device);
    const { page } = await dashboard.open();
    await page.goto(login.verification_uri_complete);
    await signIn(page, 'ada@example.com');
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByRole('heading', { name: /denied/i }).waitFor();
    expect(await poll(dashboard.app, login.device_code)).toBe('400 access_denied');
  });

  it('has no serious violation, and fits a phone', async () => {
    const login = await beginLogin(dashboard.app, device);
    const { page } = await dashboard.open();
    await page.goto(login.verification_uri_complete);
    await signIn(page, 'ada@example.com');
    await page.getByText(login.user_code).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    expect(await sidewaysScroll(page)).toBe(0);
  });
});
