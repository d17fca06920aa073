import { html } from '../common/pages/html.js';
import type { Page } from '../common/pages/page.js';
import { pathBelow } from '../common/pages/page.js';

/** Form for an e-mail address. */
export function signInPage(form: {
  publicUrl: string;
  returnTo: string | null;
  email?: string;
  isRejected?: boolean;
}): Page {
  const { publicUrl, returnTo, email, isRejected } = form;
  return {
    title: 'Sign in to mintkeep',
    body: html`<section class="card">
      <h1>Development sign-in</h1>
      <p class="soft">
        No identity provider is configured, so this page replaces one, on this machine only. Enter any e-mail
        address to sign in as its user.
      </p>
      <form method="post" action="${pathBelow(publicUrl, '/dev/sign-in')}">
        ${returnTo !== null && html`<input type="hidden" name="return_to" value="${returnTo}" />`}
        <label for="email">E-mail address</label>
        <input
          id="email"
          name="email"
          type="email"
          value="${email}"
          placeholder="ada@example.com"
          autocomplete="email"
          required
          autofocus
          ${isRejected && html`aria-invalid="true" aria-describedby="rejection"`}
        />
        ${isRejected && html`<p class="error" id="rejection" role="alert">This is not an e-mail address.</p>`}
        <button type="submit">Sign in</button>
      </form>
    </section>`,
  };
}

/** Shows the session token, for use on the command line. */
export function signedInPage(session: { email: string; token: string; publicUrl: string }): Page {
  const { email, token, publicUrl } = session;
  return {
    title: 'Signed in to mintkeep',
    body: html`<section class="card">
      <h1>You are signed in</h1>
      <p class="wrap">as <strong>${email}</strong></p>
      <p class="soft">
        This browser has the session cookie. Use the token below on the command line. It is valid for 30 days.
      </p>
      <label for="token">Session token</label>
      <textarea id="token" rows="7" readonly>${token}</textarea>
      <h2>Try it</h2>
      <pre>curl -H "Authorization: Bearer ${token}" ${publicUrl}/me/projects</pre>
      <p class="links">
        <a href="${pathBelow(publicUrl, '/docs')}">API documentation</a>
        <a href="${pathBelow(publicUrl, '/dev/sign-in')}">Sign in as another user</a>
      </p>
    </section>`,
  };
}
