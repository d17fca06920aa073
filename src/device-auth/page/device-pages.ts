import { Injectable } from '@nestjs/common';
import { html } from '../../common/pages/html.js';
import type { Html } from '../../common/pages/html.js';
import type { Page } from '../../common/pages/page.js';
import type { OrganizationResponse } from '../../organizations/dto/organization.response.js';
import { DevicePageUrls } from '../flow/device-page-urls.js';
import { DevicePageFrame } from './device-page-frame.js';
import { poolName, poolChoice } from './device-page-pools.js';
import { formatAge, formatRemaining } from './device-page-times.js';
import type { PageSession } from './page-sessions.js';
import type { DeviceRequest } from '../flow/user-code-lookup.js';

/** A request for a decision, or a decision that was made. */
interface Decision {
  readonly device: DeviceRequest;
  readonly session: PageSession;
}

/** Pages of the device flow, apart from error pages. */
@Injectable()
export class DevicePages {
  constructor(
    private readonly urls: DevicePageUrls,
    private readonly frame: DevicePageFrame,
  ) {}

  /** @param userCode code to fill in, so that the user only has to send the form */
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

  /** Everything that a person has to know before a decision. */
  confirm({ device, session, organizations }: Decision & { organizations: OrganizationResponse[] }): Page {
    return this.frame.page(
      'A device asks for a key',
      html`<h1>A device asks for a key</h1>
        <p>Does your device show this code?</p>
        <p class="code">${device.userCode}</p>
        ${this.facts(device, session)}
        <form method="post" action="${this.urls.path}/deny">
          <input type="hidden" name="user_code" value="${device.userCode}" />
          <input type="hidden" name="csrf_token" value="${session.csrfToken}" />
          ${poolChoice(organizations)}
          <ul>
            <li>The key <strong>can</strong> use all enabled upstreams there, in your name, until you revoke it on the keys page.</li>
            <li>The key <strong>cannot</strong> sign in as you, or read or change projects, documents, teams and keys.</li>
          </ul>
          <p class="notice">
            <strong>Approve only a request that you started yourself.</strong> If somebody sent you this code or
            link, deny it.
          </p>
          <div class="choices">
            <button type="submit" formaction="${this.urls.path}/deny">Deny</button>
            <button type="submit" formaction="${this.urls.path}/approve">Approve</button>
          </div>
        </form>`,
    );
  }

  /** @param pool pool that the key will use; undefined if the user has just left it */
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
          <dd>${device.name ?? device.hostname ?? 'unnamed'}</dd>
          <dt>Upstreams</dt>
          <dd>${pool && poolName(pool)}</dd>
          <dt>Account</dt>
          <dd>${session.user.email}</dd>
        </dl>
        <p class="soft">If this was a mistake, revoke the key on the keys page of ${this.frame.dashboard()}.</p>`,
    );
  }

  denied({ device }: Decision): Page {
    return this.frame.page(
      'Denied',
      html`<p class="mark no" aria-hidden="true">✕</p>
        <h1>Denied</h1>
        <p>The device with the code <span class="mono">${device.userCode}</span> gets no key.</p>
        <p class="soft">
          If you did not start this request, somebody may have tried to get access to your account. They received
          nothing, and you do not have to do anything else. You can close this page.
        </p>`,
    );
  }

  /** Device, address, time and account of the request. */
  private facts(device: DeviceRequest, session: PageSession): Html {
    const { address, sameAddress, askedSecondsAgo, secondsLeft } = device;
    const signIn = this.urls.otherAccount(device.userCode);
    return html`<dl>
      <dt>Device</dt>
      <dd>${selfDescription(device)}</dd>
      <dt>Asked from</dt>
      <dd>${address} ${sameAddress ? html`<small>same address as this browser</small>` : otherAddress(session)}</dd>
      <dt>Asked</dt>
      <dd>${formatAge(askedSecondsAgo)}, ${formatRemaining(secondsLeft)} left</dd>
      <dt>Account</dt>
      <dd>
        <strong>${session.user.email}</strong>
        ${signIn !== undefined && html`<small><a href="${signIn}">Use another account</a></small>`}
      </dd>
    </dl>`;
  }

  /** The account that is signed in, with a link to use another one. */
  private account({ user }: PageSession, userCode = ''): Html {
    const signIn = this.urls.otherAccount(userCode);
    return html`<p class="links soft">
      <span class="wrap">Signed in as <strong>${user.email}</strong></span>
      ${signIn !== undefined && html`<a href="${signIn}">Use another account</a>`}
    </p>`;
  }
}

function selfDescription({ name, hostname }: DeviceRequest): Html {
  if (name === null && hostname === null) return html`unnamed`;
  return html`${name ?? 'A tool'} ${hostname !== null && html`<br />on ${hostname}`}
    <small>as the device calls itself (unverified)</small>`;
}

function otherAddress({ address }: PageSession): Html {
  return html`<small class="caution">This browser has another address: ${address}. That is normal for a server, but not for a device next to you.</small>`;
}
