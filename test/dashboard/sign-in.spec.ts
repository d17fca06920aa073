import type { Page } from 'playwright-core';
import { CHROMIUM, describeWith } from '../support/requirements.js';
import { startDashboard } from './support/dashboard.js';
import type { Dashboard } from './support/dashboard.js';

describeWith(CHROMIUM, 'signing in to the dashboard', () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard();
  });
  afterAll(() => dashboard.close());

  async function signIn(page: Page, email: string): Promise<void> {
    await page.getByLabel('E-mail address').fill(email);
    await page.getByRole('button', { name: 'Sign in' }).click();
  }

  it('leads back to the page that the person came from', async () => {
    const { page, problems } = await dashboard.open();
    const ada = await dashboard.signedIn('back');
    const { body } = await ada.agent.get('/me/organizations').expect(200);
    const path = `/o/${body.organizations[0].id}/projects?q=hand`;
    await page.goto(dashboard.url + path);
    await page.getByRole('heading', { name: 'Sign in to mintkeep' }).waitFor();
    expect(new URL(page.url()).searchParams.get('return_to')).toBe(path);
    await signIn(page, 'back@example.com');
    await page.getByRole('heading', { name: 'Projects', exact: true }).waitFor();
    expect(page.url()).toBe(dashboard.url + path);
    expect(problems).toEqual([]);
  });

  it('never leads to another origin', async () => {
    const { page } = await dashboard.open();
    await page.goto(`${dashboard.url}/sign-in?return_to=https://evil.example.com/`);
    await signIn(page, 'safe@example.com');
    await page.getByRole('heading', { name: 'Projects', exact: true }).waitFor();
    expect(new URL(page.url()).origin).toBe(dashboard.url);
  });

  it('explains a rejected address at the field', async () => {
    const { page } = await dashboard.open();
    await page.goto(dashboard.url);
    await signIn(page, 'no address');
    await page.getByText('Email must be an e-mail address').waitFor();
  });

  it('keeps the session in this tab only, and ends it on sign-out', async () => {
    const { page, context, email } = await dashboard.signedIn('tab');
    await page.goto(dashboard.url);
    await page.getByRole('button', { name: `Account ${email}` }).click();
    expect(await page.evaluate('JSON.stringify(localStorage) + document.cookie')).not.toMatch(/eyJ/);
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByLabel('E-mail address').waitFor();
    expect(await page.evaluate('sessionStorage.getItem("mintkeep.session")')).toBeNull();
    await context.close();
  });

  it('requests a new sign-in above the page when the session was rejected', async () => {
    const { page, email } = await dashboard.signedIn('expired');
    await page.goto(dashboard.url);
    await page.getByRole('button', { name: 'New project' }).click();
    await page.getByLabel('Name').fill('Kept text');
    await page.route('**/me/**', (route) =>
      route.continue({ headers: { ...route.request().headers(), authorization: 'Bearer expired' } }),
    );
    await page.getByRole('button', { name: 'Create project' }).click();
    await page.getByText('Your session has expired').waitFor();
    await page.unroute('**/me/**');
    expect(await page.getByLabel('E-mail address').inputValue()).toBe(email);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Your session has expired').waitFor({ state: 'detached' });
    expect(await page.getByLabel('Name').inputValue()).toBe('Kept text');
    await page.getByRole('button', { name: 'Create project' }).click();
    await page.getByRole('heading', { name: 'Kept text' }).waitFor();
  });

  it('starts anew when another person signs in after the session was rejected', async () => {
    const { page, agent } = await dashboard.signedIn('first');
    const { body } = await agent.get('/me/organizations').expect(200);
    const owner = body.organizations[0].id as number;
    await agent
      .post(`/me/organizations/${owner}/projects`)
      .send({ name: 'Project of the first' })
      .expect(201);
    await page.goto(dashboard.url);
    await page.getByText('Project of the first').waitFor();
    await page.route('**/me/**', (route) =>
      route.continue({ headers: { ...route.request().headers(), authorization: 'Bearer expired' } }),
    );
    await page.getByRole('link', { name: 'Keys' }).click();
    await page.getByText('Your session has expired').waitFor();
    await page.unroute('**/me/**');
    await signIn(page, 'second@example.com');
    await page.getByRole('button', { name: 'Account second@example.com' }).waitFor();
    await page.getByRole('heading', { name: 'Projects', exact: true }).waitFor();
    await page.getByText('No projects yet').waitFor();
    expect(page.url()).not.toContain(`/o/${owner}/`);
    expect(await page.getByText('Project of the first').count()).toBe(0);
  });
});

describeWith(CHROMIUM, 'a session in the fragment of the URL', () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard();
  });
  afterAll(() => dashboard.close());

  it('is used only after a confirmation if this tab did not request it', async () => {
    const { body } = await dashboard.app.anonymous.post('/dev/sign-in').send({ email: 'eve@example.com' });
    const { page } = await dashboard.open();
    const sent: string[] = [];
    page.on('request', (request) => sent.push(`${request.url()} ${request.headers().authorization ?? ''}`));
    await page.goto(`${dashboard.url}/sign-in#access_token=${body.token}&state=forged`);
    await page.getByRole('heading', { name: 'Sign in as eve@example.com?' }).waitFor();
    expect(page.url()).toBe(`${dashboard.url}/sign-in`);
    expect(sent.filter((request) => request.includes(body.token))).toEqual([]);
    await page.getByRole('button', { name: 'No, do not sign in' }).click();
    await page.getByLabel('E-mail address').waitFor();
    expect(sent.filter((request) => request.includes(body.token))).toEqual([]);
  });

  it('is used at once if the state is the one of this tab', async () => {
    const { body } = await dashboard.app.anonymous.post('/dev/sign-in').send({ email: 'ok@example.com' });
    const { page, context } = await dashboard.open();
    await context.addInitScript({ content: "sessionStorage.setItem('mintkeep.sign-in-state', 'mine')" });
    await page.goto(`${dashboard.url}/#access_token=${body.token}&expires_in=3600&state=mine`);
    await page.getByRole('heading', { name: 'Projects', exact: true }).waitFor();
    expect(page.url()).not.toContain('access_token');
  });
});
