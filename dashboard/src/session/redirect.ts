import { isServicePage } from './return-to';
import { readSession } from './token';
import type { Session } from './token';

const STATE_KEY = 'mintkeep.sign-in-state';
const MAGIC_LINK_KEY = 'mintkeep.magic-link';
const STATE_BYTES = 16;

/** Sign-in that came back from another page in the fragment of the URL. */
export interface ReturnedSignIn {
  readonly session: Session;
  readonly refreshToken: string | null;
  /** Whether this tab asked for the sign-in. Otherwise another page may have sent the person here. */
  readonly isExpected: boolean;
}

interface Fragment {
  /** Null if the sign-in failed. */
  readonly token: string | null;
  readonly state: string | null;
  readonly refreshToken: string | null;
  /** Code of the error, such as `otp_expired`. */
  readonly error: string | null;
}

const EXPIRED_LINK = 'otp_expired';
/** Codes as RFC 6749 and Supabase have them. Any other text is not shown, because every link can contain one. */
const ERROR_CODE = /^[a-z_]{1,40}$/;

let failure: string | undefined;

/**
 * Goes to the sign-in page of another site, which leads back to `returnTo` with a session in the fragment.
 * @param returnTo path of this origin
 */
export function leaveForSignIn(signInUrl: string, returnTo: string): void {
  const state = randomState();
  sessionStorage.setItem(STATE_KEY, state);
  const url = new URL(signInUrl);
  url.searchParams.set('return_to', window.location.origin + pageWithScripts(returnTo));
  url.searchParams.set('state', state);
  window.location.assign(url);
}

/** Path that reads the fragment and leads on to `returnTo`. Pages of the service cannot read it. */
function pageWithScripts(returnTo: string): string {
  return isServicePage(returnTo) ? `/sign-in?return_to=${encodeURIComponent(returnTo)}` : returnTo;
}

/** Reason why the sign-in that led to this page failed, with the next step. */
export const signInFailure = (): string | undefined => failure;

/**
 * Takes the session, or the reason of a failure, out of the URL's fragment. Call it before anything else reads or
 * stores the URL.
 */
export function takeReturnedSignIn(): ReturnedSignIn | undefined {
  const { hash, pathname, search } = window.location;
  const fragment = parseFragment(hash);
  if (!fragment) return undefined;
  window.history.replaceState(window.history.state, '', pathname + search);
  const expected = sessionStorage.getItem(STATE_KEY);
  sessionStorage.removeItem(STATE_KEY);
  if (fragment.token === null) failure = explainFailure(fragment.error);
  const session = fragment.token === null ? undefined : readSession(fragment.token);
  if (!session) return undefined;
  const isExpected =
    (expected !== null && fragment.state === expected) || takeMagicLinkRequest() === session.email;
  return { session, refreshToken: fragment.refreshToken, isExpected };
}

/** Reads a fragment such as `#access_token=…&state=…` or `#error=access_denied&error_code=otp_expired`. */
function parseFragment(hash: string): Fragment | undefined {
  const fields = new URLSearchParams(hash.replace(/^#/, ''));
  const token = fields.get('access_token');
  const error = fields.get('error_code') ?? fields.get('error');
  if (token === null && error === null) return undefined;
  return { token, error, state: fields.get('state'), refreshToken: fields.get('refresh_token') };
}

function explainFailure(code: string | null): string {
  if (code === EXPIRED_LINK) return 'The link has expired or was used. Request a new one.';
  return `The sign-in failed${code !== null && ERROR_CODE.test(code) ? ` (${code})` : ''}. Try again.`;
}

/** Remembers the address that asked for a magic link, because the link opens in another tab. */
export function rememberMagicLinkRequest(email: string): void {
  localStorage.setItem(MAGIC_LINK_KEY, email);
}

function takeMagicLinkRequest(): string | null {
  const email = localStorage.getItem(MAGIC_LINK_KEY);
  localStorage.removeItem(MAGIC_LINK_KEY);
  return email;
}

function randomState(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(STATE_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
