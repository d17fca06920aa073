import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHROMIUM, describeWith } from '../support/requirements.js';
import { startDashboard } from './support/dashboard.js';
import type { Dashboard, Person } from './support/dashboard.js';

const LIMIT_BYTES = 250 * 1_024;

const ASSETS = 'dashboard/dist/assets';
const MANTINE = 'node_modules/@mantine/core/styles.css';

/** Classes of Mantine, such as `m_77c9d27d`, in a text. */
const classesIn = (text: string) => new Set(text.match(/\bm_[0-9a-f]{6,8}\b/g));

const readAssets = (extension: string) =>
  readdirSync(ASSETS)
    .filter((name) => name.endsWith(extension))
    .map((name) => readFileSync(join(ASSETS, name), 'utf8'))
    .join('\n');

it('contains the styles of all components of Mantine that its scripts use', () => {
  const known = classesIn(readFileSync(MANTINE, 'utf8'));
  const styled = classesIn(readAssets('.css'));
  const missing = [...classesIn(readAssets('.js'))].filter((name) => known.has(name) && !styled.has(name));
  expect(missing).toEqual([]);
  expect(styled.size).toBeLessThan(known.size);
});

describeWith(CHROMIUM, 'the first load of the dashboard', () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard();
  });
  afterAll(() => dashboard.close());

  /** Bytes of all scripts and style sheets that the page loads until it is idle. */
  async function loadedBytes({ page }: Pick<Person, 'page'>, heading: string): Promise<number> {
    await page.goto(dashboard.url);
    await page.getByRole('heading', { name: heading, exact: true }).waitFor();
    await page.waitForLoadState('networkidle');
    const script =
      "performance.getEntriesByType('resource').filter(({name}) => /\\.(js|css)$/.test(name)).map((e) => e.encodedBodySize)";
    const sizes = await page.evaluate<number[]>(script);
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  it('transfers at most 250 KiB of scripts and styles, signed out and signed in', async () => {
    expect(await loadedBytes(await dashboard.open(), 'Sign in to mintkeep')).toBeLessThan(LIMIT_BYTES);
    expect(await loadedBytes(await dashboard.signedIn('size'), 'Projects')).toBeLessThan(LIMIT_BYTES);
  });
});
