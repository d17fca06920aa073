import { Injectable } from '@nestjs/common';
import { html } from '../common/html.js';
import type { Html } from '../common/html.js';
import type { Page } from '../common/page.js';
import type { OrganizationResponse } from '../organizations/dto/organization.response.js';
import { DeviceAddresses } from './device-addresses.js';
import { DevicePageFrame } from './device-page-frame.js';
import { poolName, pools } from './device-page-pools.js';
import { ago, remaining } from './device-page-times.js';
import type { PageSession } from './page-session.js';
import type { DeviceRequest } from './user-code-lookup.js';

/** What somebody is asked to decide, or has decided. */
interface Decision {
  readonly device: DeviceRequest;
  readonly session: PageSession;
}

/** What people see of the device flow as long as nothing is wrong. */
@Injectable()
export class DevicePages {
  constructor(
    private readonly addresses: DeviceAddresses,
    private readonly frame: DevicePageFrame,
  ) {}

  /** @param userCode that the user has only to send */
  enterCode(session: PageSession, userCode?: string): Page {
    const prompt =
      userCode === undefined ? 'Enter the code that your device shows.' : 'Does your device show this code?';
    return this.frame.page(
      'Connect a device',
      html`<h1>Connect a device</h1>
        <p>${prompt}</p>
        ${this.frame.codeForm(userCode)} ${this.account(session, userCode)}`,
    );
  }

  /** Everything there is to know before saying yes. */
  confirm({ device, session, organizations }: Decision & { organizations: OrganizationResponse[] }): Page {
    return this.frame.page(
      'A device asks for a key',
      html`<h1>A device asks for a key</h1>
        <p>Does your device show this code?</p>
        <p class="code">${device.userCode}</p>
        ${this.facts(device, session)}
        <form method="post" action="${this.addresses.path}/deny">
          <input type="hidden" name="user_code" value="${device.userCode}" />
          <input type="hidden" name="csrf_token" value="${session.csrfToken}" />
          ${pools(organizations)}
          <ul>
            <li>The key <strong>can</strong> use all enabled upstreams there, as you, until you revoke it on the keys page.</li>
            <li>It <strong>cannot</strong> sign in as you, or touch projects, documents, teams and keys.</li>
          </ul>
          <p class="notice">
            <strong>Approve only what you have started yourself.</strong> Did somebody send you this code or
            link? Deny.
          </p>
          <div class="choices">
            <button type="submit" formaction="${this.addresses.path}/deny">Deny</button>
            <button type="submit" formaction="${this.addresses.path}/approve">Approve</button>
          </div>
        </form>`,
    );
  }

  /** @param pool whose upstreams the key will use; undefined when the user has just lost it */
  approved({ device, session, pool }: Decision & { pool?: OrganizationResponse }): Page {
    return this.frame.page(
      'Approved',
      html`<p class="mark" aria-hidden="true">✓</p>
        <h1>Approved</h1>
        <p>Your device gets its key within a few seconds. You can close this page.</p>
        <dl>
          <dt>Code</dt>
          <dd class="mono">${device.userCode}</dd>
          <dt>Device</dt>
          <dd>${device.name ?? device.hostname ?? 'without a name'}</dd>
          <dt>Upstreams</dt>
          <dd>${pool && poolName(pool)}</dd>
          <dt>Account</dt>
          <dd>${session.user.email}</dd>
        </dl>
        <p class="soft">A mistake? Revoke the key on the keys page of ${this.frame.dashboard()}.</p>`,
    );
  }

  denied({ device }: Decision): Page {
    return this.frame.page(
      'Denied',
      html`<p class="mark no" aria-hidden="true">✕</p>
        <h1>Denied</h1>
        <p>The device with the code <span class="mono">${device.userCode}</span> gets no key.</p>
        <p class="soft">
          If you did not start this, somebody may have tried to get at your account. They got nothing, and there
          is nothing else that you have to do. You can close this page.
        </p>`,
    );
  }

  /** Who asks, from where and when, and for whom. */
  private facts(device: DeviceRequest, session: PageSession): Html {
    const { address, sameAddress, askedSecondsAgo, secondsLeft } = device;
    const signIn = this.addresses.signIn(device.userCode);
    return html`<dl>
      <dt>Device</dt>
      <dd>${selfDescription(device)}</dd>
      <dt>Asked from</dt>
      <dd>${address} ${sameAddress ? html`<small>the address of this browser, too</small>` : elsewhere(session)}</dd>
      <dt>Asked</dt>
      <dd>${ago(askedSecondsAgo)}, ${remaining(secondsLeft)} left</dd>
      <dt>Account</dt>
      <dd>
        <strong>${session.user.email}</strong>
        ${signIn !== undefined && html`<small><a href="${signIn}">Use another account</a></small>`}
      </dd>
    </dl>`;
  }

  /** Whose account this is about, and the way to another one. */
  private account({ user }: PageSession, userCode = ''): Html {
    const signIn = this.addresses.signIn(userCode);
    return html`<p class="links soft">
      <span class="wrap">Signed in as <strong>${user.email}</strong></span>
      ${signIn !== undefined && html`<a href="${signIn}">Use another account</a>`}
    </p>`;
  }
}

function selfDescription({ name, hostname }: DeviceRequest): Html {
  if (name === null && hostname === null) return html`has not given a name`;
  return html`${name ?? 'A tool'} ${hostname !== null && html`<br />on ${hostname}`}
    <small>as the device calls itself (unverified)</small>`;
}

function elsewhere({ address }: PageSession): Html {
  return html`<small class="caution">This browser is elsewhere, at ${address}: right for a server, wrong for a device beside you.</small>`;
}
