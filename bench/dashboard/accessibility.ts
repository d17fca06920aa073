import axe from 'axe-core';
import type { Page } from 'playwright-core';
import type { Content } from './content.js';
import type { Windows } from './windows.js';

const IMPACTS = ['critical', 'serious', 'moderate', 'minor'] as const;
const AXE = 'axe.run().then(({ violations }) => violations.map(({ impact }) => impact))';

/** Rows of a table: a page, and its number of violations by impact in both themes together. */
export async function countViolations(windows: Windows, content: Content): Promise<string[][]> {
  const rows: string[][] = [['sign-in', ...(await countOn(windows, '/', 'signed out'))]];
  for (const [name, path] of Object.entries(listPages(content)))
    rows.push([name, ...(await countOn(windows, path, 'signed in'))]);
  return rows;
}

export const VIOLATION_COLUMNS = ['page', ...IMPACTS];

function listPages({ owner, projects, manyDocuments, longDocument }: Content): Record<string, string> {
  const areas = [
    'members',
    'members/invitations',
    'members/audit',
    'keys',
    'upstreams',
    'usage',
    'playground',
  ];
  return {
    projects,
    documents: manyDocuments,
    document: longDocument,
    preview: `${longDocument}?view=preview`,
    ...Object.fromEntries([...areas, 'settings'].map((area) => [area, `/o/${owner}/${area}`])),
    invitations: '/invitations',
  };
}

function countOn(windows: Windows, path: string, person: 'signed in' | 'signed out'): Promise<string[]> {
  return windows.run(person, async (page) => {
    await page.goto(windows.url + path);
    await page.getByRole('heading', { level: 1 }).first().waitFor({ state: 'attached' });
    await page.waitForLoadState('networkidle');
    await page.evaluate(axe.source);
    const found = [...(await impactsIn(page, 'light')), ...(await impactsIn(page, 'dark'))];
    return IMPACTS.map((impact) => String(found.filter((each) => each === impact).length));
  });
}

async function impactsIn(page: Page, colorScheme: 'light' | 'dark'): Promise<string[]> {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor();
  await page.waitForTimeout(200); // colours change within 100 ms
  return page.evaluate<string[]>(AXE);
}
