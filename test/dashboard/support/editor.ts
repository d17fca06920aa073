import type { BrowserContext, Page, Route } from 'playwright-core';

const DOCUMENT = '**/documents/*';

/** Opens a document and waits for its editor. */
export async function openEditor(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await editorOf(page).waitFor();
}

/** Adds to the end of the text. */
export async function append(page: Page, text: string): Promise<void> {
  await editorOf(page).press('Control+End');
  await page.keyboard.type(text);
}

/** Waits until the page shows this state. */
export function saveStatus(page: Page, status: string): Promise<void> {
  return page.locator(`.save-status[data-status=${status}]`).waitFor();
}

/** Records the states that the page shows from now on. @returns a function that lists them */
export async function recordStatuses(page: Page): Promise<() => Promise<string[]>> {
  await page.evaluate(`
    window.statuses = [];
    new MutationObserver(([{ target }]) => window.statuses.push(target.dataset.status))
      .observe(document.querySelector('.save-status'), { attributeFilter: ['data-status'] });
  `);
  return () => page.evaluate<string[]>('window.statuses');
}

export const editorOf = (page: Page) => page.getByLabel('Markdown');

/** Cuts all changes of documents off. Returns the function that lets them through again. */
export async function cutSaving(place: Page | BrowserContext): Promise<() => Promise<void>> {
  const handler = (route: Route) => (route.request().method() === 'PUT' ? route.abort() : route.continue());
  await place.route(DOCUMENT, handler);
  return () => place.unroute(DOCUMENT, handler);
}
