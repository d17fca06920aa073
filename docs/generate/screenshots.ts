/**
 * Takes the screenshots of the README: `npm run docs:screenshots`. `SCREENSHOTS=FOLDER` takes all pages instead, at two
 * sizes and in both themes, for a look before a release.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beginLogin } from '../../test/support/device-flow.js';
import { createExampleTeam } from '../../test/dashboard/support/example-team.js';
import type { ExampleTeam } from '../../test/dashboard/support/example-team.js';
import { startDashboard } from '../../test/dashboard/support/dashboard.js';
import type { Dashboard, Person } from '../../test/dashboard/support/dashboard.js';

const IMAGES = join(import.meta.dirname, '../images');
const ALL_FOLDER = process.env.SCREENSHOTS;
const TIMEOUT_MS = 600_000;
const SIZES = { desktop: { width: 1_280, height: 800 }, phone: { width: 390, height: 844 } };
const THEMES = ['light', 'dark'] as const;

describe('screenshots', () => {
  let dashboard: Dashboard;
  let admin: Person;
  let team: ExampleTeam;
  beforeAll(async () => {
    dashboard = await startDashboard({ UPSTREAM_PRIVATE_NETWORKS: 'allow' });
    admin = await dashboard.signedIn('ada');
    team = await createExampleTeam(dashboard, admin);
    team = { ...team, pages: { ...team.pages, approval: await approvalPath() } };
  }, TIMEOUT_MS);
  afterAll(() => dashboard.close());

  async function approvalPath(): Promise<string> {
    const { user_code } = await beginLogin(dashboard.app, { name: 'mintkeep', hostname: 'laptop' });
    return `/auth/device?user_code=${user_code}`;
  }

  async function take(page: Page, name: string, folder: string, file: string): Promise<void> {
    await page.goto(dashboard.url + team.pages[name]!);
    await page.getByRole('heading').first().waitFor({ state: 'attached' });
    await page.waitForLoadState('networkidle');
    await page.waitForTimeout(1_000); // charts are drawn with an animation
    await page.screenshot({ path: join(folder, `${file}.png`), fullPage: name === 'approval' });
  }

  (ALL_FOLDER === undefined ? it : it.skip)(
    'of the README',
    async () => {
      await admin.page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
      await take(admin.page, 'projects', IMAGES, 'documents'); // opens the session that the approval page needs
      const pages = { document: 'documents', usage: 'usage', upstreams: 'upstreams', approval: 'approval' };
      team = { ...team, pages: { ...team.pages, usage: `${team.pages.usage}?range=7d&metric=cost` } };
      for (const [name, file] of Object.entries(pages)) await take(admin.page, name, IMAGES, file);
    },
    TIMEOUT_MS,
  );

  (ALL_FOLDER === undefined ? it.skip : it)(
    'of all pages',
    async () => {
      const folder = ALL_FOLDER!;
      await mkdir(folder, { recursive: true });
      for (const [size, viewport] of Object.entries(SIZES)) {
        await admin.page.setViewportSize(viewport);
        for (const colorScheme of THEMES) {
          await admin.page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
          for (const name of Object.keys(team.pages))
            await take(admin.page, name, folder, `${size}-${colorScheme}-${name}`);
        }
      }
    },
    TIMEOUT_MS,
  );
});
