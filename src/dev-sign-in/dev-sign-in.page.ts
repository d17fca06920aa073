import { html } from '../common/html.js';
import type { Page } from '../common/page.js';

/** Asks for an address. */
export function signInPage(form: {
  publicUrl: string;
  returnTo: string | null;
  email?: string;
  refused?: boolean;
}): Page {
  const { publicUrl, returnTo, email, refused } = form;
  return {
    title: 'Sign in to mintkeep',
    body: html`<section class="card">
      <h1>Development sign-in</h1>
      <p class="soft">
        No identity provider is set, so this page stands in for one, on this machine only. Any address will
        do: it is who you are from then on.
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
          ${refused && html`aria-invalid="true" aria-describedby="refusal"`}
        />
        ${refused && html`<p class="error" id="refusal" role="alert">That is not an e-mail address.</p>`}
        <button type="submit">Sign in</button>
      </form>
    </section>`,
  };
}

/** Hands over the session, for the browser and for the command line. */
export function signedInPage(session: { email: string; token: string; publicUrl: string }): Page {
  const { email, token, publicUrl } = session;
  return {
    title: 'Signed in to mintkeep',
    body: html`<section class="card">
      <h1>You are signed in</h1>
      <p class="wrap">as <strong>${email}</strong></p>
      <p class="soft">
        This browser has the session cookie. For the command line, here is the session itself; it lasts 30
        days.
      </p>
      <label for="token">Session token</label>
      <textarea id="token" rows="7" readonly>${token}</textarea>
      <h2>Try it</h2>
      <pre>curl -H "Authorization: Bearer ${token}" ${publicUrl}/me/projects</pre>
      <p class="links">
        <a href="${pathBelow(publicUrl, '/docs')}">API documentation</a>
        <a href="${pathBelow(publicUrl, '/dev/sign-in')}">Sign in as somebody else</a>
      </p>
    </section>`,
  };
}

/** A path, which goes to whatever name the browser knows us by. */
function pathBelow(publicUrl: string, path: string): string {
  return new URL(publicUrl + path).pathname;
}
