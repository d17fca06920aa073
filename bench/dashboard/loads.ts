import type { Page } from 'playwright-core';
import type { Windows } from './windows.js';

/** Slowdown of the processor (`Emulation.setCPUThrottlingRate`). */
export const THROTTLING = 4;

const SIZES = `performance.getEntriesByType('resource')
  .filter(({ name }) => /\\.(js|css)$/.test(name)).map(({ encodedBodySize }) => encodedBodySize)`;

/** Loads the start page without a cache, and returns the bytes of all scripts and style sheets until it is idle. */
export function firstLoadBytes(windows: Windows, person: 'signed in' | 'signed out'): Promise<number> {
  return windows.run(person, async (page) => {
    await page.goto(windows.url);
    const heading = person === 'signed in' ? 'Projects' : 'Sign in to mintkeep';
    await page.getByRole('heading', { name: heading, exact: true }).waitFor();
    await page.waitForLoadState('networkidle');
    const sizes = await page.evaluate<number[]>(SIZES);
    return sizes.reduce((sum, size) => sum + size, 0);
  });
}

/**
 * Opens a page without a cache on a slow processor, and returns the time in ms until it can be used.
 * @param isUsable resolves as soon as the page can be used
 */
export function slowLoadMs(
  windows: Windows,
  path: string,
  isUsable: (page: Page) => Promise<void>,
): Promise<number> {
  return windows.run('signed in', async (page) => {
    const devTools = await page.context().newCDPSession(page);
    await devTools.send('Emulation.setCPUThrottlingRate', { rate: THROTTLING });
    const start = performance.now();
    await page.goto(windows.url + path, { waitUntil: 'commit' });
    await isUsable(page);
    return performance.now() - start;
  });
}
