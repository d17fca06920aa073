import { Injectable } from '@nestjs/common';
import { pathBelow } from '../../common/pages/page.js';
import { Settings } from '../../config/settings.js';

/** Query parameter that marks a request as a form submission, as opposed to a followed link. */
export const BY_FORM_PARAMETER = 'by_form';

/** URLs of the approval page and of the sign-in that leads back to it. */
@Injectable()
export class DevicePageUrls {
  /** Absolute URL without a code. */
  readonly page: string;
  /** Path of {@link page}. A path works under every host name that the browser may use. */
  readonly path: string;

  constructor(private readonly settings: Settings) {
    this.page = `${settings.publicUrl}/auth/device`;
    this.path = new URL(this.page).pathname;
  }

  /** Absolute URL with a user code, valid or not. */
  pageWithCode(userCode: string): string {
    return this.page + toQuery(userCode);
  }

  /** {@link path} with a user code. */
  pathWithCode(userCode: string): string {
    return this.path + toQuery(userCode);
  }

  /** Sign-in URL that returns to this page; undefined without `SIGN_IN_URL`. */
  signInPage(userCode: string): string | undefined {
    if (this.settings.signInUrl === undefined) return undefined;
    const url = new URL(this.settings.signInUrl);
    url.searchParams.set('return_to', userCode === '' ? this.page : this.pageWithCode(userCode));
    return url.href;
  }

  /**
   * Path of the dashboard's sign-in, if the sign-in page is another one that returns with a session in the fragment. This
   * page has no scripts: only the dashboard can read the fragment and set the cookie.
   */
  dashboardSignIn(userCode: string): string | undefined {
    if (this.settings.dashboard?.signIn.kind !== 'redirect') return undefined;
    const returnTo = userCode === '' ? this.path : this.pathWithCode(userCode);
    const query = new URLSearchParams({ return_to: returnTo }).toString();
    return `${pathBelow(this.settings.publicUrl, '/sign-in')}?${query}`;
  }

  /** Sign-in for a person who has a session already, and wants another one; undefined without `SIGN_IN_URL`. */
  otherAccount(userCode: string): string | undefined {
    return this.dashboardSignIn(userCode) ?? this.signInPage(userCode);
  }
}

function toQuery(userCode: string): string {
  return `?${new URLSearchParams({ user_code: userCode }).toString()}`;
}
