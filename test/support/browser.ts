import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';
import { CHROMIUM_PATH } from './requirements.js';

/** Shorter than the timeout of a test, so that the report names the step. */
export const ACTION_TIMEOUT_MS = 60_000;
/** Exceeds the start of a browser on a busy machine. */
export const BROWSER_START_TIMEOUT_MS = 120_000;

export const BROWSER_FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
];

/** Starts the installed Chromium; for tests that require it. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM_PATH,
    args: BROWSER_FLAGS,
    timeout: BROWSER_START_TIMEOUT_MS,
  });
}
