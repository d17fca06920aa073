import { HttpStatus, Injectable } from '@nestjs/common';
import type { Refusal } from '../common/error.filter.js';
import { html } from '../common/html.js';
import type { Page } from '../common/page.js';
import { DeviceAddresses } from './device-addresses.js';
import { CsrfFailed, InvalidUserCode, RateLimited, SignInNeeded } from './device-auth.errors.js';
import { DevicePageFrame } from './device-page-frame.js';
import { waiting } from './device-page-times.js';

/** What people see when something is wrong. */
@Injectable()
export class DeviceRefusalPages {
  constructor(
    private readonly addresses: DeviceAddresses,
    private readonly frame: DevicePageFrame,
  ) {}

  /** What is wrong, and what to do about it. */
  of(refusal: Refusal): Page {
    if (refusal instanceof SignInNeeded) return this.signInNeeded(refusal.location);
    if (refusal instanceof InvalidUserCode) return this.notUsable();
    if (refusal instanceof RateLimited) return this.tooManyAttempts(refusal.retryAfterSeconds);
    if (refusal instanceof CsrfFailed) return this.formRefused(refusal);
    return this.failed(refusal.status < 500 ? refusal.message : undefined, refusal.status);
  }

  private notUsable(): Page {
    return this.frame.page(
      'This code cannot be used',
      html`<h1>This code cannot be used</h1>
        <p>It was mistyped, is older than ten minutes, or has been used already.</p>
        <p class="soft">Check the code, or start again on your device to get a new one.</p>
        ${this.frame.codeForm()}`,
    );
  }

  private tooManyAttempts(retryAfterSeconds: number): Page {
    return this.frame.page(
      'Too many attempts',
      html`<h1>Too many attempts</h1>
        <p>There were too many wrong codes. You can go on in ${waiting(retryAfterSeconds)}.</p>
        <p class="soft">A code lasts ten minutes: start again on your device then, to get a new one.</p>`,
    );
  }

  private formRefused({ type, userCode }: CsrfFailed): Page {
    const wayOn =
      userCode === undefined
        ? html`<a href="${this.addresses.path}">Enter the code again</a>`
        : html`<a href="${this.addresses.pathOf(userCode)}">Open the page again</a>`;
    return this.frame.page(
      'Nothing was approved',
      html`<h1>Nothing was approved</h1>
        <p>The form did not come from this page, or your session has changed since you opened it.</p>
        <p>${wayOn}</p>
        <p class="soft">Error: ${type}</p>`,
    );
  }

  private signInNeeded(location: string | undefined): Page {
    const there = html`<p>Nothing has been decided. You come back to this page when you have signed in.</p>
      <p><a class="button" href="${location}">Sign in</a></p>`;
    const here = html`<p>
        Sign in to ${this.frame.dashboard()} in this browser, then open this page again. The code on your device stays
        good for ten minutes.
      </p>
      <p class="soft">This service has not been told where people sign in (SIGN_IN_URL).</p>`;
    return this.frame.page(
      'Sign in first',
      html`<h1>Sign in first</h1>
        ${location === undefined ? here : there}`,
    );
  }

  private failed(message: string | undefined, status: number): Page {
    const unavailable = status === Number(HttpStatus.SERVICE_UNAVAILABLE);
    return this.frame.page(
      'That did not work',
      html`<h1>That did not work</h1>
        ${message !== undefined && html`<p>It was refused: ${message}.</p>`}
        <p>
          Nothing was approved. ${unavailable && 'Signing in cannot be checked at the moment.'} Open the page
          again, or try a little later.
        </p>
        <p><a href="${this.addresses.path}">Enter the code again</a></p>`,
    );
  }
}
