import type { BrowserContext, Page } from 'playwright-core';
import { eventually } from '../../support/eventually.js';

const RECORDER = `{
  window.notices = [];
  const ALERT = '[role=alert]';
  const alertsIn = (node) => (node.matches?.(ALERT) ? [node] : [...(node.querySelectorAll?.(ALERT) ?? [])]);
  new MutationObserver((changes) => {
    const added = changes.flatMap(({ addedNodes }) => [...addedNodes]);
    window.notices.push(...added.flatMap(alertsIn).map(({ textContent }) => textContent));
  }).observe(document, { childList: true, subtree: true });
}`;

/** Records all notices of the pages of a context, because a page shows a notice for a few seconds only. */
export async function recordNotices(context: BrowserContext): Promise<void> {
  await context.addInitScript({ content: RECORDER });
}

/** Waits until the page has shown this notice, which may be gone again. */
export function noticed(page: Page, text: RegExp): Promise<void> {
  return eventually(async () => {
    const notices = await page.evaluate<string[]>('window.notices');
    expect(notices).toContainEqual(expect.stringMatching(text));
  });
}
