import type { Page } from 'playwright-core';
import type { Windows } from './windows.js';

/** Time between two key presses of a fast typist. */
const KEY_INTERVAL_MS = 80;
const WHEEL_STEPS = 60;
const WHEEL_PIXELS = 1_500;

/** Collects the time from each key press until the frame after it was painted. */
const OBSERVE_KEYS = `
  window.keyTimes = [];
  addEventListener('keydown', ({ timeStamp }) => {
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => window.keyTimes.push(performance.now() - timeStamp);
      port2.postMessage(null); // runs after the frame was painted
    });
  }, { capture: true });`;

/** Collects the time from each key press until the number of shown documents has changed and was painted. */
const OBSERVE_FILTER = `
  window.keyTimes = [];
  let pressedAt;
  addEventListener('keydown', ({ timeStamp }) => (pressedAt = timeStamp), { capture: true });
  const status = [...document.querySelectorAll('[role=status]')].find(({ textContent }) => /document/.test(textContent));
  new MutationObserver(() => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => window.keyTimes.push(performance.now() - pressedAt);
    port2.postMessage(null);
  })).observe(status, { characterData: true, childList: true, subtree: true });`;

/** Counts frames in which the middle of the window shows no row of the list. */
const OBSERVE_ROWS = `
  window.frames = { seen: 0, blank: 0 };
  const look = () => {
    const element = document.elementFromPoint(innerWidth / 2, innerHeight / 2);
    window.frames.seen++;
    if (!element?.closest('[role=row]')) window.frames.blank++;
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);`;

/** Types into the filter of a long list, and returns the ms from each key press to the painted result. */
export function filterTimes(windows: Windows, path: string, filters: readonly string[]): Promise<number[]> {
  return windows.run('signed in', async (page) => {
    await openList(windows, page, path);
    const input = page.getByLabel('Filter documents');
    await page.evaluate(OBSERVE_FILTER);
    for (const filter of filters) {
      await input.pressSequentially(filter, { delay: KEY_INTERVAL_MS * 2 });
      for (const _ of filter) await input.press('Backspace', { delay: KEY_INTERVAL_MS });
    }
    return page.evaluate<number[]>('window.keyTimes');
  });
}

/** Scrolls through a long list with the wheel, and counts the frames without rows. */
export function scroll(windows: Windows, path: string): Promise<{ seen: number; blank: number }> {
  return windows.run('signed in', async (page) => {
    await openList(windows, page, path);
    await page.mouse.move(640, 400);
    await page.evaluate(OBSERVE_ROWS);
    for (let step = 0; step < WHEEL_STEPS; step++) await page.mouse.wheel(0, WHEEL_PIXELS);
    await page.waitForTimeout(500); // the last frames
    return page.evaluate('window.frames');
  });
}

/** Types into the middle of a document, and returns the ms from each key press to the painted frame. */
export function typingTimes(windows: Windows, path: string, text: string): Promise<number[]> {
  return windows.run('signed in', async (page) => {
    await page.goto(windows.url + path);
    const editor = page.locator('.cm-content');
    await editor.click();
    for (let i = 0; i < 10; i++) await page.keyboard.press('PageDown');
    await page.evaluate(OBSERVE_KEYS);
    await page.keyboard.type(text, { delay: KEY_INTERVAL_MS });
    return page.evaluate<number[]>('window.keyTimes');
  });
}

async function openList(windows: Windows, page: Page, path: string): Promise<void> {
  await page.goto(windows.url + path);
  await page.getByRole('link', { name: 'Document 0001' }).first().waitFor();
}
