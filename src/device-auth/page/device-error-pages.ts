import { Catch, HttpStatus, Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { ErrorFilter } from '../../common/api/error.filter.js';
import type { Rejection } from '../../common/api/error.filter.js';
import { html } from '../../common/pages/html.js';
import { sendPage } from '../../common/pages/page.js';
import type { Page } from '../../common/pages/page.js';
import { TooManyKeys } from '../../keys/keys.errors.js';
import { DevicePageUrls } from '../flow/device-page-urls.js';
import { CsrfFailed, InvalidUserCode, RateLimited, SignInRequired } from '../flow/device-auth.errors.js';
import { DevicePageFrame } from './device-page-frame.js';
import { formatWait } from './device-page-times.js';

/** Error pages of the device flow. */
@Injectable()
export class DeviceErrorPages {
  constructor(
    private readonly urls: DevicePageUrls,
    private readonly frame: DevicePageFrame,
  ) {}

  /** Page that says what is wrong and what to do. */
  forRejection(rejection: Rejection): Page {
    if (rejection instanceof SignInRequired) return this.signInRequired(rejection.location);
    if (rejection instanceof InvalidUserCode) return this.unusableCode();
    if (rejection instanceof RateLimited) return this.tooManyAttempts(rejection.retryAfterSeconds);
    if (rejection instanceof TooManyKeys) return this.tooManyKeys(rejection);
    if (rejection instanceof CsrfFailed) return this.rejectedForm(rejection);
    return this.failed(rejection.status < 500 ? rejection.message : undefined, rejection.status);
  }

  private unusableCode(): Page {
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
        <p>Too many wrong codes were entered. You can try again in ${formatWait(retryAfterSeconds)}.</p>
        <p class="soft">Codes expire after ten minutes. Start again on your device to get a new one.</p>`,
    );
  }

  private tooManyKeys({ message, type }: TooManyKeys): Page {
    return this.frame.page(
      'Too many keys',
      html`<h1>Too many keys</h1>
        <p>Nothing was approved: ${message}.</p>
        <p>
          Revoke a key on the keys page of ${this.frame.dashboard()}. Then enter the code on your device again. Codes
          expire after ten minutes.
        </p>
        <p><a href="${this.urls.path}">Enter the code again</a></p>
        <p class="soft">Error: ${type}</p>`,
    );
  }

  private rejectedForm({ type, userCode }: CsrfFailed): Page {
    const link =
      userCode === undefined
        ? html`<a href="${this.urls.path}">Enter the code again</a>`
        : html`<a href="${this.urls.pathWithCode(userCode)}">Open the page again</a>`;
    return this.frame.page(
      'Nothing was approved',
      html`<h1>Nothing was approved</h1>
        <p>The form was not sent by this page, or your session has changed since you opened the page.</p>
        <p>${link}</p>
        <p class="soft">Error: ${type}</p>`,
    );
  }

  private signInRequired(location: string | undefined): Page {
    const withLink = html`<p>Nothing has been decided yet. After you sign in, you return to this page.</p>
      <p><a class="button" href="${location}">Sign in</a></p>`;
    const withoutLink = html`<p>
        Sign in to ${this.frame.dashboard()} in this browser, then open this page again. The code on your device is
        valid for ten minutes.
      </p>
      <p class="soft">The operator has not configured a sign-in page (SIGN_IN_URL).</p>`;
    return this.frame.page(
      'Sign in first',
      html`<h1>Sign in first</h1>
        ${location === undefined ? withoutLink : withLink}`,
    );
  }

  private failed(message: string | undefined, status: number): Page {
    const unavailable = status === Number(HttpStatus.SERVICE_UNAVAILABLE);
    return this.frame.page(
      'The request failed',
      html`<h1>The request failed</h1>
        ${message !== undefined && html`<p>The request was rejected: ${message}.</p>`}
        <p>
          Nothing was approved. ${unavailable && 'Your session cannot be verified at the moment.'} Open the page
          again, or try again later.
        </p>
        <p><a href="${this.urls.path}">Enter the code again</a></p>`,
    );
  }
}

/** Presents errors as pages. */
@Catch()
@Injectable()
export class DevicePageFilter extends ErrorFilter {
  constructor(private readonly pages: DeviceErrorPages) {
    super();
  }

  protected override present(rejection: Rejection, response: Response): void {
    sendPage(response, rejection.status, this.pages.forRejection(rejection));
  }
}
