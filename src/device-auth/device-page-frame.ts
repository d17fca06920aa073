import { Injectable } from '@nestjs/common';
import { html } from '../common/html.js';
import type { Html } from '../common/html.js';
import type { Page } from '../common/page.js';
import { Settings } from '../config/settings.js';
import { BY_FORM, DeviceAddresses } from './device-addresses.js';

/** What the pages have in common. */
@Injectable()
export class DevicePageFrame {
  constructor(
    private readonly addresses: DeviceAddresses,
    private readonly settings: Settings,
  ) {}

  page(title: string, content: Html): Page {
    const body = html`<section class="card">${content}</section>`;
    return { title: `${title} · mintkeep`, body };
  }

  /** A GET: what it leads to can be reloaded and bookmarked, and approves nothing. */
  codeForm(userCode?: string): Html {
    return html`<form method="get" action="${this.addresses.path}">
      <input type="hidden" name="${BY_FORM}" value="yes" />
      <label for="user_code">Code</label>
      <input
        id="user_code"
        class="code"
        name="user_code"
        type="text"
        value="${userCode}"
        placeholder="XXXX-XXXX"
        maxlength="20"
        autocomplete="off"
        autocapitalize="characters"
        spellcheck="false"
        required
        autofocus
      />
      <button type="submit">Continue</button>
    </form>`;
  }

  dashboard(): Html {
    const { dashboardUrl, publicUrl } = this.settings;
    return dashboardUrl === publicUrl
      ? html`the dashboard`
      : html`<a href="${dashboardUrl}" rel="noreferrer">the dashboard</a>`;
  }
}
