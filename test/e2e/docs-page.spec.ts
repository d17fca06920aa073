import { existsSync, readdirSync } from 'node:fs';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { connectRaw } from '../support/raw-client.js';
import { sessionFor } from '../support/sessions.js';

const CHROMIUM = '/usr/bin/chromium';
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
];

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

describe('what is served', () => {
  it('allows nothing from outside and nothing inline', async () => {
    const { headers, text } = await app.anonymous.get('/docs').expect(200).expect('Content-Type', /html/);
    const policy = headers['content-security-policy'];
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(text).not.toMatch(/style=|<style|<script>| on\w+=|https?:/);
  });

  it('is all there', async () => {
    const { text } = await app.anonymous.get('/docs').expect(200);
    const loaded = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path!);
    expect(loaded).toHaveLength(6);
    for (const path of loaded) {
      expect(path).toMatch(/^[^/]/); // there may be a path in front of it all
      const { headers } = await app.anonymous.get(`/${path}`).expect(200);
      if (path.startsWith('docs/')) expect(headers['cache-control']).toBe('public, max-age=3600');
    }
  });

  it('is read once, and asked for again by its tag', async () => {
    for (const path of ['/docs/swagger-ui.js', '/docs/page.css', '/openapi.json']) {
      const { headers, text } = await app.anonymous.get(path).expect(200);
      expect((await app.anonymous.get(path)).text).toBe(text);
      await app.anonymous.get(path).set('If-None-Match', headers.etag!).expect(304);
    }
  });

  it('leaves no file open for clients that do not wait for it', async () => {
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

  it('has one address', async () => {
    const { headers } = await app.anonymous.get('/docs/').expect(302);
    expect(headers.location).toBe('../docs');
  });

  it('is nothing else of the folder that it comes from', async () => {
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

const present = existsSync(CHROMIUM);
if (!present) process.stderr.write(`skipped: the tests in a browser need ${CHROMIUM}\n`);

(present ? describe : describe.skip).each([1280, 390])('in Chromium, %d pixels wide', (width) => {
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  const complaints: string[] = [];
  const hosts = new Set<string>();

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
    context = await browser.newContext({ viewport: { width, height: 900 } });
    page = await context.newPage();
    page.on('console', (message) => complaints.push(message.text())); // violations of the policy are told there
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

  it('needs no scrolling sideways', async () => {
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
  });

  it('lets a session be entered and a request be made with it', async () => {
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

  it('asked no other host, and the browser had nothing to say', () => {
    expect([...hosts]).toEqual([app.url]);
    expect(complaints).toEqual([]);
  });
});
