import { Injectable } from '@nestjs/common';
import { html } from '../../common/pages/html.js';
import type { Html } from '../../common/pages/html.js';
import type { Page } from '../../common/pages/page.js';
import { Settings } from '../../config/settings.js';
import { BY_FORM_PARAMETER, DevicePageUrls } from '../flow/device-page-urls.js';

/** Common parts of the pages of the device flow. */
@Injectable()
export class DevicePageFrame {
  constructor(
    private readonly urls: DevicePageUrls,
    private readonly settings: Settings,
  ) {}

  page(title: string, content: Html): Page {
    const body = html`<section class="card">${content}</section>`;
    return { title: `${title} · mintkeep`, body };
  }

  /** Asks for a user code. The form uses GET: its target can be reloaded and bookmarked, and approves nothing. */
  codeForm(userCode?: string): Html {
    return html`<form method="get" action="${this.urls.path}">
      <input type="hidden" name="${BY_FORM_PARAMETER}" value="yes" />
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
