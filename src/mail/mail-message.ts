import { html } from '../common/pages/html.js';
import type { Html } from '../common/pages/html.js';

/** Mail without its sender. */
export interface MailMessage {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Creates the HTML of a mail, which has no images or other external resources. */
export function mailPage(heading: string, content: Html): string {
  return html`<!doctype html>
    <html lang="en">
      <body style="margin:0;padding:32px 16px;background:#f4f4f2;font:16px/1.5 system-ui,sans-serif;color:#1c1c1a">
        <div style="max-width:480px;margin:0 auto;padding:32px;background:#fff;border-radius:12px">
          <h1 style="margin:0 0 16px;font-size:22px;line-height:1.3">${heading}</h1>
          ${content}
        </div>
      </body>
    </html>`.toString();
}
