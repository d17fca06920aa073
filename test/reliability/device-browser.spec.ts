import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { KeyAuthenticator } from '../../src/keys/key-authenticator.js';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { launchBrowser } from '../support/browser.js';
import { beginLogin, KEY, letPass, poll } from '../support/device-flow.js';
import { eventually } from '../support/eventually.js';
import { CHROMIUM, describeWith } from '../support/requirements.js';
import { sessionFor } from '../support/sessions.js';

describeWith(CHROMIUM, 'the device flow in Chromium, without JavaScript on our pages', () => {
  let app: TestApp;
  let browser: Browser;
  let signIn: Site;
  let sso: Site;
  let evil: Site;
  let context: BrowserContext;
  let page: Page;

  beforeAll(async () => {
    signIn = await startSite();
    sso = await startSite();
    evil = await startSite();
    app = await startApp({ SIGN_IN_URL: `${signIn.url}/sign-in`, DEVICE_CODES_PER_MINUTE: '1000' });
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await app.close();
    await Promise.all([signIn.close(), sso.close(), evil.close()]);
  });

  beforeEach(async () => {
    context = await browser.newContext({ javaScriptEnabled: false });
    page = await context.newPage();
    signIn.redirect = undefined;
    await app.database.query('DELETE FROM rate_limits');
  });
  afterEach(() => context.close());

  /** Sets the session cookie. Cookies apply to all ports of a host. */
  async function signInAs(user: string): Promise<void> {
    await context.addCookies([
      {
        name: 'mintkeep_session',
        value: await sessionFor(user),
        url: app.url,
        httpOnly: true,
        sameSite: 'Lax',
      },
    ]);
  }

  const open = (userCode = '') => page.goto(`${app.url}/auth/device${userCode && `?user_code=${userCode}`}`);
  const heading = () => page.getByRole('heading', { level: 1 }).textContent();
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();

  it('leads from the first request to a valid key', async () => {
    const login = await beginLogin(app, { name: 'mint CLI', hostname: 'adas-laptop' });
    expect(await poll(app, login.device_code)).toBe('429 authorization_pending');

    await open(login.user_code); // without a session: redirected to the sign-in, with the way back
    expect(page.url()).toContain(`${signIn.url}/sign-in?return_to=`);
    const back = new URL(new URL(page.url()).searchParams.get('return_to')!);
    expect(back.pathname + back.search).toBe(`/auth/device?user_code=${login.user_code}`);

    await signInAs('ada');
    await page.goto(app.url + back.pathname + back.search);
    expect(await heading()).toBe('A device asks for a key');
    expect(await page.locator('.code').textContent()).toBe(login.user_code);
    expect(await page.locator('dl').textContent()).toMatch(/mint CLI\s+on adas-laptop.*ada@example\.com/s);
    await letPass(app, 5);
    expect(await poll(app, login.device_code)).toBe('429 authorization_pending'); // opening the page approves nothing

    await press('Approve');
    expect(await heading()).toBe('Approved');
    const answer = await poll(app, login.device_code);
    expect(answer).toMatch(KEY);
    const key = await app.app.get(KeyAuthenticator).authenticate(answer.slice(4));
    expect(key).toMatchObject({ userId: 'ada' });
    expect(await poll(app, login.device_code)).toBe('400 expired_token');

    await open(login.user_code);
    expect(await heading()).toBe('This code cannot be used');
  });

  it('accepts a typed code and a chosen team', async () => {
    await signInAs('ada');
    const { body: team } = await (
      await app.as('ada')
    )
      .post('/me/organizations')
      .send({ name: 'Acme', slug: 'acme' });
    const login = await beginLogin(app);
    await open();
    await page.getByLabel('Code').fill(login.user_code.toLowerCase().replace('-', ' '));
    await press('Continue');
    expect(await page.getByLabel('Personal').isChecked()).toBe(true);
    await page.getByLabel('Acme (team acme)').check();
    await press('Approve');
    const answer = await poll(app, login.device_code);
    const key = await app.app.get(KeyAuthenticator).authenticate(answer.slice(4));
    expect(key).toMatchObject({ organizationId: team.id });
  });

  it('denies by button and by the Enter key', async () => {
    await signInAs('ada');
    for (const deny of [() => press('Deny'), () => page.getByLabel('Personal').press('Enter')]) {
      const login = await beginLogin(app);
      await open(login.user_code);
      await deny();
      expect(await heading()).toBe('Denied');
      expect(await poll(app, login.device_code)).toBe('400 access_denied');
    }
  });

  it('gives Approve and Deny equal weight', async () => {
    await signInAs('ada');
    const login = await beginLogin(app);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      for (const viewport of [
        { width: 1280, height: 800 },
        { width: 320, height: 600 },
      ]) {
        await page.setViewportSize(viewport);
        await open(login.user_code);
        const [deny, approve] = await Promise.all(
          ['Deny', 'Approve'].map((name) => page.getByRole('button', { name }).boundingBox()),
        );
        expect([deny!.width, deny!.height, deny!.y]).toEqual([approve!.width, approve!.height, approve!.y]);
        expect(approve!.x + approve!.width).toBeLessThanOrEqual(viewport.width);
      }
    }
  });

  it('reports a wrong code, and lets the user try again', async () => {
    await signInAs('ada');
    const login = await beginLogin(app);
    await open('ZZZZ-ZZZZ');
    expect(await heading()).toBe('This code cannot be used');
    await page.getByLabel('Code').fill(login.user_code);
    await press('Continue');
    expect(await heading()).toBe('A device asks for a key');
  });

  it('requests that the user sends a code from a link on another site, and counts none before', async () => {
    await signInAs('ada');
    const login = await beginLogin(app);
    const follow = async (userCode: string) => {
      evil.page = `<a href="${app.url}/auth/device?user_code=${userCode}">Win a prize</a>`;
      await page.goto(evil.url.replace('127.0.0.1', 'localhost'));
      await page.getByRole('link').click();
      expect(await heading()).toBe('Connect a device');
      expect(await page.getByLabel('Code').inputValue()).toBe(userCode);
    };
    for (let i = 0; i < 11; i++) await follow('BBBB-BBBB');
    await follow(login.user_code);
    await press('Continue');
    expect(await heading()).toBe('A device asks for a key');
    await press('Approve');
    expect(await poll(app, login.device_code)).toMatch(KEY);
  });

  it('reports a code that expired while the page was open', async () => {
    await signInAs('ada');
    const login = await beginLogin(app);
    await open(login.user_code);
    await letPass(app, 600);
    await press('Approve');
    expect(await heading()).toBe('This code cannot be used');
    expect(await poll(app, login.device_code)).toBe('400 expired_token');
  });

  it('reports too many attempts', async () => {
    await signInAs('guesser');
    for (let i = 0; i < 11; i++) await open('ZZZZ-ZZZZ');
    expect(await heading()).toBe('Too many attempts');
  });

  it('leads a user without a session to the sign-in, from every form and over other sites', async () => {
    const login = await beginLogin(app);
    const forms = [
      { userCode: login.user_code, submit: () => press('Approve') },
      { userCode: login.user_code, submit: () => press('Deny') },
      {
        userCode: '',
        submit: () =>
          page
            .getByLabel('Code')
            .fill(login.user_code)
            .then(() => press('Continue')),
      },
    ];
    signIn.redirect = `${sso.url}/authorize`;
    for (const { userCode, submit } of forms) {
      await signInAs('ada');
      await open(userCode);
      await context.clearCookies();
      await submit();
      expect(await heading()).toBe('Sign in first');
      await page.getByRole('link', { name: 'Sign in', exact: true }).click();
      expect(page.url()).toBe(`${sso.url}/authorize`);
    }
    expect(await poll(app, login.device_code)).toBe('429 authorization_pending');
  });

  it.each([
    ['of the same site', (url: string) => url],
    ['of another site', (url: string) => url.replace('127.0.0.1', 'localhost')],
  ])('rejects a form from a page %s, even with the right token', async (_what, seenAs) => {
    await signInAs('ada');
    const login = await beginLogin(app);
    await open(login.user_code);
    const csrfToken = await page.locator('[name=csrf_token]').inputValue(); // the other page knows even the token
    evil.page = `<form method="post" action="${app.url}/auth/device/approve">
      <input name="user_code" value="${login.user_code}"><input name="csrf_token" value="${csrfToken}">
      <button>Win a prize</button></form>`;
    await page.goto(seenAs(evil.url));
    await press('Win a prize');
    expect(page.url()).toMatch(/approve$|sign-in/);
    if (page.url().endsWith('approve')) expect(await heading()).toBe('Nothing was approved');
    expect(await poll(app, login.device_code)).toBe('429 authorization_pending');
  });

  it('cannot be read by scripts of another origin', async () => {
    const scripted = await browser.newContext();
    const session = await sessionFor('ada');
    await scripted.addCookies([{ name: 'mintkeep_session', value: session, url: app.url }]);
    const intruder = await scripted.newPage();
    const login = await beginLogin(app);
    evil.page = 'hello';
    await intruder.goto(evil.url);
    const read = await intruder.evaluate(
      (url) =>
        fetch(url, { credentials: 'include' }).then(
          (r) => r.text(),
          () => 'kept out',
        ),
      `${app.url}/auth/device?user_code=${login.user_code}`,
    );
    expect(read).toBe('kept out');
    await scripted.close();
  });

  it('cannot be shown in a frame', async () => {
    await signInAs('ada');
    const login = await beginLogin(app);
    evil.page = `<iframe src="${app.url}/auth/device?user_code=${login.user_code}"></iframe>`;
    await page.goto(evil.url);
    await page.waitForLoadState('networkidle');
    const [, frame] = page.frames();
    await eventually(() => expect(frame!.url()).toBe('chrome-error://chromewebdata/'));
    expect(await frame!.locator('button').count()).toBe(0);
  });
});

/** Another site that serves one page under every path. */
interface Site {
  page: string;
  /** Target of a redirect for all requests, instead of the page. */
  redirect?: string;
  readonly url: string;
  close(): Promise<void>;
}

async function startSite(): Promise<Site> {
  const server = createServer((_request, response) => {
    if (site.redirect !== undefined) response.writeHead(302, { Location: site.redirect });
    else response.setHeader('Content-Type', 'text/html');
    response.end(`<!doctype html><title>another site</title>${site.page}`);
  });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const { port } = server.address() as AddressInfo;
  const site: Site = {
    page: 'a page',
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return site;
}
