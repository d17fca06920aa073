import { Injectable } from '@nestjs/common';
import { Settings } from '../config/settings.js';

/** In the query of the page: a form has led there, not a link. */
export const BY_FORM = 'by_form';

/** The addresses that people meet on their way through the approval. */
@Injectable()
export class DeviceAddresses {
  /** Absolute, without a code. */
  readonly page: string;
  /** The same as a path, which goes to whatever name the browser knows us by. */
  readonly path: string;

  constructor(private readonly settings: Settings) {
    this.page = `${settings.publicUrl}/auth/device`;
    this.path = new URL(this.page).pathname;
  }

  /** Absolute, with a code, or what was typed for one. */
  pageOf(userCode: string): string {
    return this.page + queryOf(userCode);
  }

  /** {@link path} with a code. */
  pathOf(userCode: string): string {
    return this.path + queryOf(userCode);
  }

  /** Where somebody signs in and comes back from; undefined when there is no such place. */
  signIn(userCode: string): string | undefined {
    if (this.settings.signInUrl === undefined) return undefined;
    const url = new URL(this.settings.signInUrl);
    url.searchParams.set('return_to', userCode === '' ? this.page : this.pageOf(userCode));
    return url.href;
  }
}

function queryOf(userCode: string): string {
  return `?${new URLSearchParams({ user_code: userCode }).toString()}`;
}
