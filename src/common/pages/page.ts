import { createHash } from 'node:crypto';
import type { Response } from 'express';
import { Html, html } from './html.js';
import { STYLE_SHEET } from './page-style.js';
import { sendUncached } from '../api/conditional.js';

const STYLE_HASH = createHash('sha256').update(STYLE_SHEET).digest('base64');

/** HTML page without scripts and without external resources. */
export interface Page {
  readonly title: string;
  readonly body: Html;
  /** Further origins that a form may redirect to; browsers apply `form-action` to redirects, too. */
  readonly formTargets?: readonly string[];
}

/** Sends a page. Pages are personal: caching, framing and cross-origin referrers are disabled. */
export function sendPage(response: Response, status: number, page: Page): void {
  response.status(status).set({
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': policy(page.formTargets ?? []),
  });
  sendUncached(response, render(page).toString());
}

/** Prefixes a path with the path of the public URL. The host is left out: a browser may use another name for it. */
export function pathBelow(publicUrl: string, path: string): string {
  return new URL(publicUrl + path).pathname;
}

function policy(formTargets: readonly string[]): string {
  return [
    "default-src 'none'",
    `style-src 'sha256-${STYLE_HASH}'`,
    `form-action ${["'self'", ...formTargets].join(' ')}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}

function render({ title, body }: Page): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${new Html(STYLE_SHEET)}</style>
</head>
<body>
<main>
<p class="brand">mintkeep</p>
${body}
</main>
</body>
</html>
`;
}
