import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chromium } from 'playwright-core';
import type { BrowserContext } from 'playwright-core';
import { ACTION_TIMEOUT_MS, BROWSER_FLAGS, BROWSER_START_TIMEOUT_MS } from '../../support/browser.js';
import { CHROMIUM_PATH } from '../../support/requirements.js';

/** Chromium with a profile on disk, in processes of its own. */
export interface Chromium {
  readonly context: BrowserContext;
  /** Ends all processes of the browser at once, as a crash does. */
  kill(): Promise<void>;
}

/** @param profile folder that outlives the browser */
export async function startChromium(profile: string): Promise<Chromium> {
  const flags = [...BROWSER_FLAGS, `--user-data-dir=${profile}`, '--remote-debugging-port=0'];
  const child = spawn(CHROMIUM_PATH!, flags, { stdio: ['ignore', 'ignore', 'pipe'], detached: true });
  const closed = once(child, 'close');
  const browser = await chromium.connectOverCDP(await debuggingUrl(child.stderr), {
    timeout: BROWSER_START_TIMEOUT_MS,
  });
  const context = browser.contexts()[0]!;
  context.setDefaultTimeout(ACTION_TIMEOUT_MS);
  return {
    context,
    kill: async () => {
      if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGKILL');
      await closed;
    },
  };
}

/** Chromium prints the address when it is ready. */
async function debuggingUrl(stderr: NodeJS.ReadableStream): Promise<string> {
  let output = '';
  for (;;) {
    const [chunk] = (await once(stderr, 'data')) as [Buffer];
    output += chunk.toString();
    const url = /DevTools listening on (\S+)/.exec(output)?.[1];
    if (url === undefined) continue;
    stderr.resume();
    return url;
  }
}
