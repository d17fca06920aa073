import type { Page } from 'playwright-core';
import { CHROMIUM, describeWith } from '../support/requirements.js';
import { startDashboard } from './support/dashboard.js';
import type { Dashboard } from './support/dashboard.js';

describeWith(CHROMIUM, 'loading of pages', () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard();
  });
  afterAll(() => dashboard.close());

  /** Holds the responses for some files back. @returns a function that releases them */
  async function hold(page: Page, files: string): Promise<() => void> {
    let release: () => void;
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route(files, async (route) => {
      await held;
      await route.continue();
    });
    return () => release();
  }

  const loadingBar = (page: Page) => page.getByRole('progressbar', { name: 'Loading' });

  it('shows that the scripts of the first page are loading', async () => {
    const { page, problems } = await dashboard.signedIn('first');
    const release = await hold(page, '**/assets/index-*.js');
    await page.goto(dashboard.url, { waitUntil: 'commit' });
    await loadingBar(page).waitFor();
    release();
    await page.getByRole('heading', { name: 'Projects', exact: true }).waitFor({ timeout: 30_000 });
    await loadingBar(page).waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  });

  it.each(['shell', 'keys-page'])('shows that the code of a page is loading (%s)', async (chunk) => {
    const { page } = await dashboard.signedIn('page');
    if (chunk === 'keys-page') {
      await page.goto(dashboard.url);
      await page.getByRole('heading', { name: 'Projects', exact: true }).waitFor();
    }
    const release = await hold(page, `**/assets/${chunk}-*.js`);
    if (chunk === 'keys-page') await page.getByRole('link', { name: 'Keys' }).click();
    else await page.goto(dashboard.url, { waitUntil: 'commit' });
    await loadingBar(page).waitFor();
    release();
    await page.getByRole('heading', { name: chunk === 'shell' ? 'Projects' : 'Keys', exact: true }).waitFor();
    await loadingBar(page).waitFor({ state: 'detached' });
  });

  it('requests the projects while their page is loading', async () => {
    const { page } = await dashboard.signedIn('parallel');
    await page.goto(dashboard.url);
    await page.getByRole('heading', { name: 'Projects', exact: true }).waitFor();
    const release = await hold(page, '**/assets/{shell,projects-page}-*.js');
    const projects = page.waitForRequest(/\/me\/organizations\/\d+\/projects$/);
    await page.reload({ waitUntil: 'commit' });
    await projects;
    release();
    await page.getByRole('heading', { name: 'No projects yet' }).waitFor();
  });
});
