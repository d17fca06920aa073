import { readdirSync } from 'node:fs';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { launchBrowser } from '../support/browser.js';
import { eventually } from '../support/eventually.js';
import { connectRaw } from '../support/raw-client.js';
import { CHROMIUM, describeWith } from '../support/requirements.js';
import { sessionFor } from '../support/sessions.js';

/** The page builds every operation at once, which takes a busy machine long. */
const ACTION_TIMEOUT_MS = 120_000;

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

describe('the page /docs', () => {
  it('allows neither other origins nor inline code', async () => {
    const { headers, text } = await app.anonymous.get('/docs').expect(200).expect('Content-Type', /html/);
    const policy = headers['content-security-policy'];
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(text).not.toMatch(/style=|<style|<script>| on\w+=|https?:/);
  });

  it('serves all files that it loads', async () => {
    const { text } = await app.anonymous.get('/docs').expect(200);
    const loaded = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path!);
    expect(loaded).toHaveLength(6);
    for (const path of loaded) {
      expect(path).toMatch(/^[^/]/); // relative, because PUBLIC_URL may have a path
      const { headers } = await app.anonymous.get(`/${path}`).expect(200);
      if (path.startsWith('docs/')) expect(headers['cache-control']).toBe('public, max-age=3600');
    }
  });

  it('serves files with an ETag, and 304 for a current one', async () => {
    for (const path of ['/docs/swagger-ui.js', '/docs/page.css', '/openapi.json']) {
      const { headers, text } = await app.anonymous.get(path).expect(200);
      expect((await app.anonymous.get(path)).text).toBe(text);
      await app.anonymous.get(path).set('If-None-Match', headers.etag!).expect(304);
    }
  });

  it('keeps no file open for clients that do not read', async () => {
    const files = () => readdirSync('/proc/self/fd').length;
    const before = files();
    const client = await connectRaw(app);
    client.socket.pause();
    client.socket.write('GET /docs/swagger-ui.js HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(200));
    await eventually(() => expect(client.socket.writableLength).toBe(0));
    await app.anonymous.get('/docs').expect(200);
    client.socket.destroy();
    await eventually(() => expect(files()).toBeLessThan(before + 20));
  });

  it('redirects /docs/ to /docs', async () => {
    const { headers } = await app.anonymous.get('/docs/').expect(302);
    expect(headers.location).toBe('../docs');
  });

  it('is the target of a redirect from the root', async () => {
    const { headers } = await app.anonymous.get('/').expect(302);
    expect(headers.location).toBe('/docs');
    await app.anonymous.head('/').expect(302);
    await app.anonymous.post('/').expect(405).expect('Allow', 'GET, HEAD');
    await app.anonymous.get('/index.html').expect(404);
  });

  it('is the target of a redirect from the root if PUBLIC_URL has a path', async () => {
    const below = await startApp({ PUBLIC_URL: 'https://example.com/mintkeep' }, { database: app.database });
    const { headers } = await below.anonymous.get('/').expect(302);
    expect(headers.location).toBe('/mintkeep/docs');
    await below.close();
  });

  it('serves no other file of the package', async () => {
    for (const path of [
      '/docs/index.html',
      '/docs/package.json',
      '/docs/..%2fpackage.json',
      '/openapi.yaml',
    ]) {
      await app.anonymous.get(path).expect(404);
    }
  });
});

describeWith(CHROMIUM, 'the page /docs in Chromium', () =>
  describe.each([1280, 390])('%d pixels wide', (width) => {
    let browser: Browser;
    let context: BrowserContext;
    let page: Page;
    const complaints: string[] = [];
    const hosts = new Set<string>();

    beforeAll(async () => {
      browser = await launchBrowser();
      context = await browser.newContext({ viewport: { width, height: 900 } });
      page = await context.newPage();
      page.setDefaultTimeout(ACTION_TIMEOUT_MS);
      page.on('console', (message) => complaints.push(message.text())); // the browser logs policy violations there
      page.on('pageerror', (error) => complaints.push(String(error)));
      page.on('request', (request) => {
        if (!request.url().startsWith('data:')) hosts.add(new URL(request.url()).origin);
      });
      await page.goto(`${app.url}/docs`);
    });
    afterAll(() => browser.close());

    const operation = (id: string) => page.locator(`[id$="-${id}"].opblock`);

    it('shows the introduction and every operation', async () => {
      await operation('createOrganizationProject').waitFor();
      expect(await page.getByRole('heading', { level: 2 }).allTextContents()).toContain('Errors');
      const { body } = await app.anonymous.get('/openapi.json');
      const operations = Object.values<object>(body.paths).flatMap((methods) => Object.keys(methods));
      expect(await page.locator('.opblock').count()).toBe(operations.length);
    });

    it('needs no horizontal scrolling', async () => {
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    });

    it('sends a request with a session that was entered', async () => {
      await page.getByRole('button', { name: 'Authorize' }).first().click();
      const dialog = page.locator('.modal-ux');
      await dialog
        .locator('input')
        .first()
        .fill(await sessionFor(`reader-${width}`));
      await dialog.locator('form').first().getByRole('button', { name: 'Apply credentials' }).click();
      await dialog.getByRole('button', { name: 'Close' }).first().click();

      await operation('createProject').locator('.opblock-summary-control').click();
      await operation('createProject').getByRole('button', { name: 'Try it out' }).click();
      await operation('createProject').getByRole('button', { name: 'Execute' }).click();
      await operation('createProject').locator('.live-responses-table').waitFor();
      const status = operation('createProject').locator('.live-responses-table .response-col_status').last();
      expect(await status.textContent()).toMatch(/^201/);
      const { body } = await (await app.as(`reader-${width}`)).get('/me/projects').expect(200);
      expect(body.projects).toMatchObject([{ name: 'Handbook' }]);
    });

    it('contacts no other host and logs nothing in the browser', () => {
      expect([...hosts]).toEqual([app.url]);
      expect(complaints).toEqual([]);
    });
  }),
);
