import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { beginLogin, KEY, poll } from '../support/device-flow.js';
import { eventually } from '../support/eventually.js';
import { CHROMIUM, describeWith } from '../support/requirements.js';
import { SESSION_SECRET, sessionFor } from '../support/sessions.js';
import { startDashboard } from './support/dashboard.js';
import type { Dashboard } from './support/dashboard.js';
import { ANON_KEY, PASSWORD, startFakeSupabase } from './support/supabase.js';
import type { FakeSupabase } from './support/supabase.js';

describeWith(CHROMIUM, 'signing in by Supabase Auth', () => {
  let supabase: FakeSupabase;
  let dashboard: Dashboard;
  beforeAll(async () => {
    supabase = await startFakeSupabase();
    const variables = {
      SESSION_JWT_SECRET: SESSION_SECRET,
      SUPABASE_AUTH_URL: supabase.url,
      SUPABASE_ANON_KEY: ANON_KEY,
    };
    dashboard = await startDashboard(variables);
  });
  afterAll(async () => {
    await dashboard.close();
    await supabase.close();
  });
  beforeEach(() => {
    supabase.lifetime = 3_600;
  });

  it('accepts a password, explains a wrong one, and signs out', async () => {
    const { page, problems } = await dashboard.open();
    await page.goto(dashboard.url);
    await page.getByText('Sign in with a password').click();
    await page.getByLabel('E-mail address').fill('ada@example.com');
    await page.locator('input[type=password]').fill('wrong');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page
      .getByText('Invalid login credentials. Check the address and the password, or request a link.')
      .waitFor();
    await page.locator('input[type=password]').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Projects', exact: true }).waitFor();
    expect(await page.evaluate('JSON.stringify(localStorage)')).not.toMatch(/eyJ|refresh-/);
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByLabel('E-mail address').waitFor();
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toMatch(/eyJ|refresh-/);
    expect(problems).toEqual([]);
  });

  it('sends a magic link, whose page opens without a confirmation in the same browser', async () => {
    const { page, context } = await dashboard.open();
    await page.goto(`${dashboard.url}/invitations`);
    await page.getByLabel('E-mail address').fill('bob@example.com');
    await page.getByRole('button', { name: 'Send me a sign-in link' }).click();
    await page.getByText('Look into your mailbox').waitFor();
    const link = supabase.links.at(-1);
    expect(link!.email).toBe('bob@example.com');
    const mail = await context.newPage(); // the link opens in a new tab
    await mail.goto(`${link!.redirectTo}#${await supabase.fragmentFor('bob@example.com')}`);
    await mail.getByRole('heading', { name: 'Invitations', exact: true }).waitFor();
    expect(mail.url()).toBe(`${dashboard.url}/invitations`);
  });

  it('explains a link that has expired', async () => {
    const { page } = await dashboard.open();
    const error = 'error=access_denied&error_code=otp_expired&error_description=Email+link+is+invalid';
    await page.goto(`${dashboard.url}/sign-in?return_to=%2Finvitations#${error}`);
    await page.getByText('The link has expired or was used. Request a new one.').waitFor();
    expect(page.url()).not.toContain('error');
    await page.goto('about:blank');
    await page.goto(`${dashboard.url}/#error=server_error&error_description=Call+me`);
    await page.getByText('The sign-in failed (server_error). Try again.').waitFor();
  });

  async function signInByPassword(page: Page, name: string): Promise<void> {
    await page.goto(dashboard.url);
    await page.getByText('Sign in with a password').click();
    await page.getByLabel('E-mail address').fill(`${name}@example.com`);
    await page.locator('input[type=password]').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Projects', exact: true }).waitFor();
  }

  /** Rejects the session of a page once, as the service does when it has expired. */
  async function expire(page: Page): Promise<void> {
    await page.route('**/me/**', (route) =>
      route.continue({ headers: { ...route.request().headers(), authorization: 'Bearer expired' } }),
    );
    await page.getByRole('link', { name: 'Keys' }).click();
    await page.getByText('Your session has expired').waitFor();
    await page.unroute('**/me/**');
  }

  it('continues a tab whose session has expired when the magic link opens in another tab', async () => {
    const { page, context } = await dashboard.open();
    await signInByPassword(page, 'fay');
    await expire(page);
    await page.getByRole('button', { name: 'Send me a sign-in link' }).click();
    await page.getByText('Look into your mailbox').waitFor();
    const mail = await context.newPage();
    await mail.goto(`${supabase.links.at(-1)!.redirectTo}#${await supabase.fragmentFor('fay@example.com')}`);
    await mail.getByRole('heading', { name: 'Keys', exact: true }).waitFor();
    await page.getByText('Your session has expired').waitFor({ state: 'detached' });
    await page.getByText('No keys yet').waitFor();
  });

  it('keeps the person of a tab when another person signs in in another tab', async () => {
    const { page, context } = await dashboard.open();
    await signInByPassword(page, 'gil');
    const other = await context.newPage();
    await signInByPassword(other, 'hal');
    await other.getByRole('button', { name: 'Account hal@example.com' }).waitFor();
    await page.getByRole('link', { name: 'Keys' }).click();
    await page.getByText('No keys yet').waitFor();
    await page.getByRole('button', { name: 'Account gil@example.com' }).waitFor();
  });

  it('forgets the refresh token when a person signs out after the session has expired', async () => {
    const { page } = await dashboard.open();
    await signInByPassword(page, 'ivy');
    await expire(page);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in to mintkeep' }).waitFor();
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toMatch(/eyJ|refresh-/);
  });

  it('continues after a reload although the access token has expired', async () => {
    const { page } = await dashboard.open();
    await signInByPassword(page, 'jan');
    supabase.requests.length = 0;
    await page.evaluate(`
      sessionStorage.removeItem('mintkeep.session');
      const stored = JSON.parse(sessionStorage.getItem('mintkeep.supabase'));
      sessionStorage.setItem('mintkeep.supabase', JSON.stringify({ ...stored, expires_at: 1, expires_in: 1 }));
    `);
    await page.reload();
    await page.getByRole('button', { name: 'Account jan@example.com' }).waitFor();
    expect(supabase.requests).toContain('POST /auth/v1/token refresh_token');
  });

  it('requests a confirmation before it uses a magic link that this browser did not request', async () => {
    const { page } = await dashboard.open();
    await page.goto(`${dashboard.url}/sign-in#${await supabase.fragmentFor('eve@example.com')}`);
    await page.getByRole('button', { name: 'No, do not sign in' }).click();
    await page.getByLabel('E-mail address').waitFor();
  });

  it('renews the session before it expires', async () => {
    const { page } = await dashboard.open();
    supabase.lifetime = 80; // the client renews from 90 s before the end
    await page.goto(dashboard.url);
    await page.getByText('Sign in with a password').click();
    await page.getByLabel('E-mail address').fill('carol@example.com');
    await page.locator('input[type=password]').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Projects', exact: true }).waitFor();
    supabase.lifetime = 3_600;
    supabase.requests.length = 0;
    await page.reload();
    await eventually(() => expect(supabase.requests).toContain('POST /auth/v1/token refresh_token'), 90_000);
    await page.getByRole('heading', { name: 'Projects', exact: true }).waitFor();
  });
});

describeWith(CHROMIUM, 'signing in on another page', () => {
  let dashboard: Dashboard;
  const provider = createServer((_request, response) => response.end('sign-in page of the provider'));
  let signInUrl: string;
  beforeAll(async () => {
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
    signInUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/login?tenant=1`;
    const variables = { SESSION_JWT_SECRET: SESSION_SECRET, SIGN_IN_URL: signInUrl };
    dashboard = await startDashboard(variables);
  });
  afterAll(async () => {
    await dashboard.close();
    provider.closeAllConnections();
    await new Promise((resolve) => provider.close(resolve));
  });

  it('leads there with the way back and a state, and accepts the session that comes back', async () => {
    const { page } = await dashboard.open();
    await page.goto(`${dashboard.url}/invitations`);
    await page.getByRole('button', { name: 'Continue to sign-in' }).click();
    await page.getByText('sign-in page of the provider').waitFor();
    const { searchParams } = new URL(page.url());
    expect(searchParams.get('tenant')).toBe('1');
    expect(searchParams.get('return_to')).toBe(`${dashboard.url}/invitations`);
    const state = searchParams.get('state')!;
    expect(state).toMatch(/^[0-9a-f]{32}$/);
    const token = await sessionFor('dora');
    await page.goto(
      `${searchParams.get('return_to')}#access_token=${token}&expires_in=3600&refresh_token=r&state=${state}`,
    );
    await page.getByRole('heading', { name: 'Invitations', exact: true }).waitFor();
    expect(page.url()).toBe(`${dashboard.url}/invitations`);
  });

  it.each(['/', '/..'])('leads back to this origin if return_to has two slashes after %s', async (start) => {
    const { page } = await dashboard.open();
    const returnTo = `${start === '/' ? dashboard.url : start}//evil.example/`;
    await page.goto(`${dashboard.url}/sign-in?return_to=${encodeURIComponent(returnTo)}`);
    await page.getByRole('button', { name: 'Continue to sign-in' }).click();
    await page.getByText('sign-in page of the provider').waitFor();
    const way = new URL(page.url()).searchParams.get('return_to');
    expect(way).toBe(`${dashboard.url}/evil.example/`);
  });

  it('leads through the device flow, whose page cannot read the session itself', async () => {
    const login = await beginLogin(dashboard.app);
    const { page } = await dashboard.open();
    await page.goto(login.verification_uri_complete);
    await page.getByText('sign-in page of the provider').waitFor();
    const returnTo = new URL(page.url()).searchParams.get('return_to')!;
    expect(returnTo).toBe(login.verification_uri_complete);
    await page.goto(`${returnTo}#access_token=${await sessionFor('dora')}&expires_in=3600`);
    await page.getByRole('heading', { name: 'Sign in as dora@example.com?' }).waitFor();
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('dora@example.com').waitFor();

    await page.getByRole('link', { name: 'Use another account' }).click();
    await page.getByRole('button', { name: 'Continue as dora@example.com' }).waitFor();
    await page.getByRole('button', { name: 'Continue to sign-in' }).click();
    await page.getByText('sign-in page of the provider').waitFor();
    const { searchParams } = new URL(page.url());
    const fragment = `access_token=${await sessionFor('eli')}&state=${searchParams.get('state')}`;
    await page.goto(`${searchParams.get('return_to')}#${fragment}`);
    await page.getByText('eli@example.com').waitFor();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('heading', { name: 'Approved' }).waitFor();
    expect(await poll(dashboard.app, login.device_code)).toMatch(KEY);
  });

  it('requests a confirmation if the state is another one', async () => {
    const { page } = await dashboard.open();
    await page.goto(dashboard.url);
    await page.getByRole('button', { name: 'Continue to sign-in' }).click();
    await page.getByText('sign-in page of the provider').waitFor();
    await page.goto(`${dashboard.url}/#access_token=${await sessionFor('eve')}&state=other`);
    await page.getByRole('heading', { name: 'Sign in as eve@example.com?' }).waitFor();
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Projects', exact: true }).waitFor();
  });
});
