import type { Browser, Page } from 'playwright-core';

const VIEWPORT = { width: 1_280, height: 800 };
const TIMEOUT_MS = 60_000;

/** Opens windows without a cache, in which a person is signed in, or nobody. */
export class Windows {
  constructor(
    private readonly browser: Browser,
    readonly url: string,
    private readonly session: string,
  ) {}

  /** Runs a task in a new window and closes the window. */
  async run<T>(person: 'signed in' | 'signed out', task: (page: Page) => Promise<T>): Promise<T> {
    const context = await this.browser.newContext({ viewport: VIEWPORT });
    context.setDefaultTimeout(TIMEOUT_MS);
    if (person === 'signed in')
      await context.addInitScript({
        content: `sessionStorage.setItem('mintkeep.session', '${this.session}')`,
      });
    try {
      return await task(await context.newPage());
    } finally {
      await context.close();
    }
  }
}
