import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';
import { CHROMIUM_PATH } from './requirements.js';

export const BROWSER_FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
];

/** Starts the installed Chromium; for tests that require it. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM_PATH, args: BROWSER_FLAGS });
}
