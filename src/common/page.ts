import { createHash } from 'node:crypto';
import type { Response } from 'express';
import { Html, html } from './html.js';
import { STYLE_SHEET } from './page-style.js';
import { sendAfresh } from './send-afresh.js';

const STYLE_HASH = createHash('sha256').update(STYLE_SHEET).digest('base64');

/** A page of ours: no scripts, nothing from outside, readable in light and dark, on a phone and on a desk. */
export interface Page {
  readonly title: string;
  readonly body: Html;
  /** Origins that a form may end up at beside our own, for browsers that hold redirects against the policy. */
  readonly formTargets?: readonly string[];
}

/** Answers with the page. Pages are personal: they are not cached, framed, or told of to other sites. */
export function sendPage(response: Response, status: number, page: Page): void {
  response.status(status).set({
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': policy(page.formTargets ?? []),
  });
  sendAfresh(response, render(page).toString());
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
