import { jest } from '@jest/globals';
import type { BrowserContext, Page } from 'playwright-core';
import supertest from 'supertest';
import { createDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { CHROMIUM, describeWith } from '../support/requirements.js';
import { startService, temporaryFolder } from '../support/service.js';
import type { Service } from '../support/service.js';
import { startChromium } from './support/chromium.js';
import type { Chromium } from './support/chromium.js';
import { append, cutSaving, editorOf, openEditor, saveStatus } from './support/editor.js';
import { createTestProject } from './support/objects.js';
import type { TestProject } from './support/objects.js';

/** Several starts of browser and service take long on a busy machine. */
jest.setTimeout(600_000);

const KEY_PAUSE_MS = 20;
/** Reads the texts that the browser has on disk: a read waits for the writes before it. */
const STORED_TEXTS = `new Promise((resolve, reject) => {
  const opening = indexedDB.open('mintkeep-drafts');
  opening.onerror = reject;
  opening.onsuccess = () => {
    const reading = opening.result.transaction('drafts').objectStore('drafts').getAll();
    reading.onerror = reject;
    reading.onsuccess = () => resolve(reading.result.map(({ content }) => content));
  };
})`;

describeWith(CHROMIUM, 'text in the editor survives', () => {
  let database: TestDatabase;
  let dataDir: string;
  let profile: string;
  let port: number;
  let service: Service;
  let browser: Chromium;
  let token: string;
  let project: TestProject;
  let id: number;

  beforeEach(async () => {
    [database, dataDir, profile, port] = await Promise.all([
      createDatabase(),
      temporaryFolder(),
      temporaryFolder(),
      freePort(),
    ]);
    await start();
    const { body } = await service.anonymous
      .post('/dev/sign-in')
      .send({ email: 'ada@example.com' })
      .expect(200);
    token = body.token as string;
    project = await createTestProject(agent(), 'Notes');
    id = await project.write('a', 'A', 'one');
    browser = await startChromium(profile);
  });
  afterEach(async () => {
    await browser.kill();
    await service.end('SIGTERM');
    await database.drop();
  });

  const agent = () => supertest.agent(service.url).set('Authorization', `Bearer ${token}`);
  const start = async (variables: NodeJS.ProcessEnv = {}) => {
    const own = { SESSION_JWT_SECRET: '', PORT: String(port) };
    service = await startService(database.url, dataDir, { ...own, ...variables });
  };
  const open = async (context: BrowserContext): Promise<Page> => {
    const page = await context.newPage();
    await page.addInitScript({ content: `sessionStorage.setItem('mintkeep.session', '${token}')` });
    await openEditor(page, service.url + project.pathOf(id));
    return page;
  };
  /** Types without a pause in which the text could be saved. */
  const typeForever = async (page: Page): Promise<never> => {
    for (;;) await page.keyboard.type(' word', { delay: KEY_PAUSE_MS });
  };
  const saved = () => project.read(id).then(({ content }) => content);

  it('kill -9 of the browser while typing', async () => {
    const page = await open(browser.context);
    await cutSaving(page); // or a pause of the machine between two keys would save the text
    await editorOf(page).press('Control+End');
    const typing = typeForever(page).catch(() => undefined); // until the browser is killed
    const early = await eventually(async () => {
      const current = (await editorOf(page).textContent()) ?? '';
      expect(current.length).toBeGreaterThan(40);
      return current;
    });
    await eventually(async () =>
      expect(await page.evaluate(STORED_TEXTS)).toContainEqual(expect.stringContaining(early)),
    );
    await browser.kill();
    await typing;
    expect(await saved()).toBe('one');

    browser = await startChromium(profile);
    const reopened = await open(browser.context);
    expect(await editorOf(reopened).textContent()).toContain(early);
    await saveStatus(reopened, 'saved');
    expect(await saved()).toContain(early);
  });

  it.each(['update:changed', 'update:stored'])('kill -9 of the service at %s', async (point) => {
    await service.end('SIGTERM');
    await start({ CRASH_POINTS: point });
    const page = await open(browser.context);
    await append(page, ' two');
    expect(await service.exited).toMatchObject({ signal: 'SIGKILL' });
    await saveStatus(page, 'unreachable');
    await append(page, ' three');
    await start();
    await saveStatus(page, 'saved');
    expect(await saved()).toBe('one two three');
  });

  it('an outage of the service, and a reload after it', async () => {
    const page = await open(browser.context);
    await service.end('SIGTERM');
    await append(page, ' two');
    await saveStatus(page, 'unreachable');
    await page.getByText('Preview', { exact: true }).click();
    await page.getByLabel('Preview', { exact: true }).getByText('one two').waitFor();
    await start();
    await page.reload();
    await page.getByText('one two').first().waitFor();
    await saveStatus(page, 'saved');
    expect(await saved()).toBe('one two');
  });
});
