import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { beginLogin, csrfTokenIn, decide, KEY, letPass, poll, TestBrowser } from '../support/device-flow.js';
import { join, personalOwner, teamOwner } from '../support/owners.js';
import { sessionFor } from '../support/sessions.js';

const SIGN_IN_URL = 'https://id.example.com/sign-in?app=mintkeep';
const PUBLIC_URL = 'https://mint.example.com';

let app: TestApp;
let ada: TestBrowser;

beforeAll(async () => {
  app = await startApp({
    SIGN_IN_URL,
    PUBLIC_URL,
    TRUST_PROXY: '127.0.0.1',
    DEVICE_CODES_PER_MINUTE: '100000',
  });
  ada = await TestBrowser.of(app, 'ada');
});
afterAll(() => app.close());
beforeEach(() => app.database.query('DELETE FROM rate_limits'));

/** Visible text of a page. */
const words = (page: string): string =>
  page
    .replace(/<style>.*<\/style>|<[^>]*>/gs, ' ')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, '&')
    .replace(/\s+/g, ' ');

describe('the approval page without a session', () => {
  it.each([undefined, 'mintkeep_session=', 'mintkeep_session=x.y.z', 'other=1', 'mintkeep_session'])(
    'redirects to the sign-in, which leads back, for the cookie %j',
    async (cookie) => {
      const { user_code } = await beginLogin(app);
      const request = app.anonymous.get('/auth/device').query({ user_code });
      if (cookie !== undefined) void request.set('Cookie', cookie);
      const { headers } = await request.expect(303);
      const location = new URL(headers.location!);
      expect(location.origin + location.pathname).toBe('https://id.example.com/sign-in');
      expect(Object.fromEntries(location.searchParams)).toEqual({
        app: 'mintkeep',
        return_to: `${PUBLIC_URL}/auth/device?user_code=${user_code}`,
      });
      expect(headers['cache-control']).toBe('no-store');
    },
  );

  it('names the page itself as the target of the sign-in if there is no code', async () => {
    const { headers } = await app.anonymous.get('/auth/device').expect(303);
    expect(new URL(headers.location!).searchParams.get('return_to')).toBe(`${PUBLIC_URL}/auth/device`);
  });

  it('leads a browser that comes back without a session to the dashboard, which reads the fragment', async () => {
    const path = '/auth/device?user_code=BCDF-GHJK';
    const { headers } = await app.anonymous.get(path).expect(303);
    const [cookie = ''] = headers['set-cookie'] as unknown as string[];
    expect(cookie.split('; ').slice(1)).toEqual([
      'Path=/auth/device',
      'Max-Age=600',
      'HttpOnly',
      'SameSite=Lax',
      'Secure',
    ]);
    const back = await app.anonymous.get(path).set('Cookie', cookie.split(';')[0]!).expect(303);
    expect(back.headers.location).toBe(`/sign-in?${new URLSearchParams({ return_to: path }).toString()}`);
  });

  it.each(['expired', 'forged'])('rejects an %s session', async (which) => {
    const token =
      which === 'expired'
        ? await sessionFor('ada', { exp: Math.floor(Date.now() / 1_000) - 60 })
        : `${(await sessionFor('ada')).slice(0, -4)}AAAA`;
    await app.anonymous.get('/auth/device').set('Cookie', `mintkeep_session=${token}`).expect(303);
  });

  it('ignores a session in the Authorization header', async () => {
    const session = await sessionFor('ada');
    await app.anonymous.get('/auth/device').set('Authorization', `Bearer ${session}`).expect(303);
  });

  /** Link to the sign-in. Browsers would apply the form policy to a redirect, so the response is a page. */
  const findLink = ({ text, headers }: { text: string; headers: Record<string, string> }) => {
    expect(words(text)).toContain('Sign in first');
    expect(headers).not.toHaveProperty('location');
    return new URL(/class="button" href="([^"]*)"/.exec(text)![1]!.replaceAll('&amp;', '&'));
  };

  it.each(['approve', 'deny'])(
    'responds to %s with a page that links to the sign-in and back',
    async (decision) => {
      const { device_code, user_code } = await beginLogin(app);
      const csrf_token = await ada.csrfToken(user_code);
      const response = await app.anonymous
        .post(`/auth/device/${decision}`)
        .set('Origin', PUBLIC_URL)
        .type('form')
        .send({ user_code, csrf_token })
        .expect(401);
      const link = findLink(response);
      expect(link.origin + link.pathname).toBe('https://id.example.com/sign-in');
      expect(link.searchParams.get('return_to')).toBe(`${PUBLIC_URL}/auth/device?user_code=${user_code}`);
      expect(await poll(app, device_code)).toBe('429 authorization_pending');
    },
  );

  it('responds to the form for a code with the same page', async () => {
    const { text, headers } = await ada.open().expect(200);
    expect(text).toContain('<input type="hidden" name="by_form" value="yes" />');
    expect(headers['content-security-policy']).toContain("form-action 'self';");
    const response = await app.anonymous
      .get('/auth/device')
      .query({ by_form: 'yes', user_code: '"><b>' })
      .expect(401);
    const back = new URL(findLink(response).searchParams.get('return_to')!);
    expect(Object.fromEntries(back.searchParams)).toEqual({ user_code: '"><b>' });
  });

  it('does not count wrong codes', async () => {
    const { user_code } = await beginLogin(app);
    for (let i = 0; i < 40; i++) await app.anonymous.get('/auth/device?user_code=x').expect(303);
    await ada.open(user_code).expect(200);
  });

  it('shows how to sign in if no sign-in page is configured', async () => {
    const bare = await startApp();
    try {
      const { text } = await bare.anonymous
        .get('/auth/device?user_code=x')
        .expect(401)
        .expect('Content-Type', /html/);
      expect(words(text)).toContain('Sign in first');
    } finally {
      await bare.close();
    }
  });
});

describe('the approval page', () => {
  it('requests a code if there is none', async () => {
    for (const code of [undefined, '', '  ']) {
      const { text } = await ada.open(code).expect(200);
      expect(words(text)).toContain('Enter the code that your device shows.');
      expect(text).toContain('<form method="get" action="/auth/device">');
    }
  });

  it('never responds with 304', async () => {
    const { user_code } = await beginLogin(app);
    for (const code of [undefined, user_code]) {
      const { headers } = await ada.open(code).set('If-None-Match', '*').expect(200);
      expect(headers).not.toHaveProperty('etag');
    }
  });

  it('shows the name of a team without invisible characters and characters that reverse the text direction', async () => {
    const team = await teamOwner(app);
    const { slug } = (await team.admin.get(team.base)).body;
    const browser = await TestBrowser.of(app, team.user);
    for (const [name, shown] of [
      ['\u202e)lanosreP (ruoY', `)lanosreP (ruoY (team ${slug})`],
      ['\u200b', `${slug} (team ${slug})`],
    ]) {
      await team.admin.put(team.base).send({ name }).expect(200);
      const { user_code } = await beginLogin(app);
      const { text } = await browser.open(user_code).expect(200);
      expect(text).toContain(`<span>${shown}</span>`);
    }
  });

  it('distinguishes teams with the same name, before and after the approval', async () => {
    const [team, other] = [await teamOwner(app), await teamOwner(app)];
    await join(app, other, team.user, 'member');
    const browser = await TestBrowser.of(app, team.user);
    for (const { admin, base, organizationId } of [team, other]) {
      const { name, slug } = (await admin.get(base)).body;
      const { user_code } = await beginLogin(app);
      const page = (await browser.open(user_code).expect(200)).text;
      expect(page).toMatch(
        new RegExp(`value="${organizationId}"\\s*/>\\s*<span>${name} \\(team ${slug}\\)</span>`),
      );
      const csrf_token = await browser.csrfToken(user_code);
      const fields = { user_code, csrf_token, organization_id: String(organizationId) };
      const { text } = await browser.submit('approve', fields).expect(200);
      expect(words(text)).toContain(`Upstreams ${name} (team ${slug})`);
    }
  });

  it('shows all facts about the request, and approves nothing', async () => {
    const team = await teamOwner(app);
    const { slug } = (await team.admin.get(team.base)).body;
    const browser = await TestBrowser.of(app, team.user);
    const { body: login } = await app.anonymous
      .post('/auth/device/code')
      .set('X-Forwarded-For', '203.0.113.7')
      .send({ name: 'mint <CLI>', hostname: 'box.local' })
      .expect(200);
    await letPass(app, 65);
    for (let i = 0; i < 3; i++) {
      const { text, headers } = await browser.open(login.user_code.toLowerCase()).expect(200);
      const page = words(text);
      expect(text).toContain(`<p class="code">${login.user_code}</p>`);
      for (const part of [
        'mint &lt;CLI&gt; on box.local as the device calls itself (unverified)',
        '203.0.113.7 This browser has another address: 127.0.0.1',
        '1 minute ago, 8 minutes left',
        `${team.user}@example.com`,
        'Personal',
        `Acme (team ${slug})`,
        'can use all enabled upstreams there',
        'cannot sign in as you',
      ]) {
        expect(page).toContain(part);
      }
      expect(text).not.toMatch(/<script|<img|src=|onclick/i);
      expect(text.match(/formaction="\/auth\/device\/(approve|deny)"/g)).toHaveLength(2);
      expect(headers['cache-control']).toBe('no-store');
      expect(headers['referrer-policy']).toBe('same-origin');
      expect(headers['content-security-policy']).toMatch(/^default-src 'none'.*frame-ancestors 'none'/);
    }
    expect(await poll(app, login.device_code)).toBe('429 authorization_pending');
  });

  it('says if device and browser have the same address', async () => {
    const { user_code } = await beginLogin(app);
    const { text } = await ada.open(user_code).expect(200);
    expect(words(text)).toContain('127.0.0.1 same address as this browser');
    expect(words(text)).not.toContain('another address');
  });

  it('selects the personal pool by default, also among many', async () => {
    const owner = await personalOwner(app);
    const browser = await TestBrowser.of(app, owner.user);
    const { user_code } = await beginLogin(app);
    const few = (await browser.open(user_code).expect(200)).text;
    expect(few.match(/<input type="radio"/g)).toHaveLength(1);
    expect(few).toMatch(new RegExp(`value="${owner.organizationId}"\\s+checked`));
    for (let i = 0; i < 7; i++) await join(app, await teamOwner(app), owner.user, 'member');
    const many = (await browser.open(user_code).expect(200)).text;
    expect(many).not.toContain('type="radio"');
    expect(many.match(/<option value="\d+"/g)).toHaveLength(8);
    expect(many.indexOf(`value="${owner.organizationId}"`)).toBeLessThan(many.indexOf('Acme'));
  });

  it('approves for the personal pool or the chosen team', async () => {
    const team = await teamOwner(app);
    const browser = await TestBrowser.of(app, team.user);
    for (const organization_id of [undefined, '', String(team.organizationId)]) {
      const { device_code, user_code } = await beginLogin(app, { name: 'CLI' });
      const csrf_token = await browser.csrfToken(user_code);
      const fields = { user_code, csrf_token, ...(organization_id === undefined ? {} : { organization_id }) };
      const { text } = await browser.submit('approve', fields).expect(200).expect('Content-Type', /html/);
      expect(words(text)).toContain('Approved');
      expect(words(text)).toContain(organization_id ? 'Acme (team acme-' : 'Personal');
      expect(await poll(app, device_code)).toMatch(KEY);
      const [key] = await app.database.query<{ organization_id: string }>(
        'SELECT organization_id::text FROM proxy_keys ORDER BY id DESC LIMIT 1',
      );
      expect(key!.organization_id === String(team.organizationId)).toBe(Boolean(organization_id));
    }
  });

  it.each<Record<string, string>>([{}, { organization_id: 'x' }])(
    'denies with any chosen pool: %j',
    async (chosen) => {
      const { device_code, user_code } = await beginLogin(app);
      const csrf_token = await ada.csrfToken(user_code);
      const { text } = await ada.submit('deny', { user_code, csrf_token, ...chosen }).expect(200);
      expect(words(text)).toContain('Denied');
      expect(await poll(app, device_code)).toBe('400 access_denied');
    },
  );

  it.each(['999999999', 'x', '-1', '007', '1e3', '9'.repeat(16)])(
    'does not approve for the organization %s',
    async (organization_id) => {
      const { device_code, user_code } = await beginLogin(app);
      const csrf_token = await ada.csrfToken(user_code);
      const { text } = await ada.submit('approve', { user_code, csrf_token, organization_id }).expect(404);
      expect(words(text)).toContain('organization not found');
      expect(await poll(app, device_code)).toBe('429 authorization_pending');
    },
  );

  it('responds identically to unknown, malformed, expired and used codes', async () => {
    const agent = await app.as('ada');
    const [open, used, denied, expired] = [
      await beginLogin(app),
      await beginLogin(app),
      await beginLogin(app),
      await beginLogin(app),
    ];
    const csrf_token = await ada.csrfToken(open.user_code);
    await decide(agent, used.user_code, 'approve').expect(200);
    await decide(agent, denied.user_code, 'deny').expect(200);
    await app.database.query(
      'UPDATE device_sessions SET expires_at = clock_timestamp() WHERE device_code_sha256 = sha256($1::bytea)',
      [Buffer.from(expired.device_code)],
    );
    const codes = ['ZZZZ-ZZZZ', 'nonsense', '<b>', used.user_code, denied.user_code, expired.user_code];
    const pages = new Set<string>();
    for (const user_code of codes) {
      await app.database.query('DELETE FROM rate_limits');
      for (const request of [
        ada.open(user_code),
        ada.submit('approve', { user_code, csrf_token }),
        ada.submit('deny', { user_code, csrf_token }),
      ]) {
        pages.add((await request.expect(404)).text);
      }
    }
    expect(pages.size).toBe(1);
    expect(words([...pages][0]!)).toContain('This code cannot be used');
    await app.anonymous
      .get('/auth/device?user_code=a&user_code=b')
      .set('Cookie', `mintkeep_session=${await sessionFor('ada')}`)
      .expect(404);
  });

  it('blocks users who guess codes, and counts guesses together with the JSON routes', async () => {
    const browser = await TestBrowser.of(app, 'guesser');
    const agent = await app.as('guesser');
    const { user_code, device_code } = await beginLogin(app);
    const csrf_token = await browser.csrfToken(user_code);
    for (let i = 0; i < 3; i++) {
      await browser.open('ZZZZ-ZZZZ').expect(404);
      await browser.submit('approve', { user_code: 'nonsense', csrf_token }).expect(404);
      await browser.submit('deny', { user_code: 'ZZZZ-ZZZZ', csrf_token }).expect(404);
    }
    await decide(agent, 'ZZZZ-ZZZZ', 'approve').expect(404);
    for (const request of [browser.open(user_code), browser.submit('approve', { user_code, csrf_token })]) {
      const { text, headers } = await request.expect(429);
      expect(words(text)).toContain('Too many attempts');
      expect(words(text)).toContain('You can try again in 10 minutes');
      expect(Number(headers['retry-after'])).toBeGreaterThan(540);
    }
    await browser.open().expect(200);
    expect(await poll(app, device_code)).toBe('429 authorization_pending');
  });

  it('neither looks up nor counts a code in a link from another site', async () => {
    const { user_code } = await beginLogin(app);
    const follow = (userCode: string) => ada.open(userCode).set('Sec-Fetch-Site', 'cross-site').expect(200);
    for (let i = 0; i < 11; i++) await follow('BBBB-BBBB');
    const [right, wrong] = [(await follow(user_code)).text, (await follow('BBBB-BBBB')).text];
    expect(wrong.replaceAll('BBBB-BBBB', user_code)).toBe(right);
    expect(right).toContain(`value="${user_code}"`);
    expect((await follow('"><b>Win a prize')).text).not.toContain('prize');
    for (const site of ['none', 'same-origin', 'same-site']) {
      const { text } = await ada.open(user_code).set('Sec-Fetch-Site', site).expect(200);
      expect(words(text)).toContain('A device asks for a key');
    }
  });

  it('rejects a body that is not a form', async () => {
    const cookie = `mintkeep_session=${await sessionFor('ada')}`;
    for (const body of ['{}', '', '{"user_code": "x"}']) {
      const { text } = await app.anonymous
        .post('/auth/device/approve')
        .set({ Cookie: cookie, Origin: PUBLIC_URL, 'Content-Type': 'application/json' })
        .send(body)
        .expect(400);
      expect(words(text)).toContain('The request failed');
    }
  });
});

describe('forms from other sites and sessions', () => {
  let login: Awaited<ReturnType<typeof beginLogin>>;
  let csrf_token: string;
  let cookie: string;

  beforeEach(async () => {
    login = await beginLogin(app);
    cookie = `mintkeep_session=${await sessionFor('ada')}`;
    const page = app.anonymous.get('/auth/device').query({ user_code: login.user_code });
    const { text } = await page.set('Cookie', cookie).expect(200);
    csrf_token = csrfTokenIn(text);
  });

  const submit = (headers: Record<string, string>, fields: object = {}, decision = 'approve') =>
    app.anonymous
      .post(`/auth/device/${decision}`)
      .set({ Cookie: cookie, ...headers })
      .type('form')
      .send({ user_code: login.user_code, csrf_token: '', ...fields });

  it.each<[string, Record<string, string>]>([
    ['no origin header', {}],
    ['another site', { 'Sec-Fetch-Site': 'cross-site', Origin: PUBLIC_URL }],
    ['a sibling site', { 'Sec-Fetch-Site': 'same-site', Origin: PUBLIC_URL }],
    ['no page', { 'Sec-Fetch-Site': 'none' }],
    ['another origin', { Origin: 'https://evil.example' }],
    ['an origin with the same prefix', { Origin: `${PUBLIC_URL}.evil.example` }],
    ['an opaque origin', { Origin: 'null' }],
    ['an empty origin', { Origin: '' }],
  ])('are rejected: %s', async (_what, headers) => {
    for (const decision of ['approve', 'deny']) {
      const { text } = await submit(headers, { csrf_token }, decision)
        .expect(403)
        .expect('Content-Type', /html/);
      expect(words(text)).toContain('csrf_failed');
    }
    expect(await poll(app, login.device_code)).toBe('429 authorization_pending');
  });

  it.each(['', 'x', 'A'.repeat(43), 'ü'.repeat(43)])('are rejected with the token %j', async (token) => {
    await submit({ Origin: PUBLIC_URL }, { csrf_token: token }).expect(403);
    await submit({ 'Sec-Fetch-Site': 'same-origin' }, { csrf_token: token }).expect(403);
    expect(await poll(app, login.device_code)).toBe('429 authorization_pending');
  });

  it("are rejected with another session's token", async () => {
    const eve = await TestBrowser.of(app, 'eve');
    const token = await eve.csrfToken(login.user_code);
    await ada.submit('approve', { user_code: login.user_code, csrf_token: token }).expect(403);
    await ada.submit('deny', { user_code: login.user_code, csrf_token: token }).expect(403);
    expect(await poll(app, login.device_code)).toBe('429 authorization_pending');
  });

  it('lead back to their code if they belong to an older session of the same user', async () => {
    const before = `mintkeep_session=${await sessionFor('ada', { iat: 1 })}`;
    const opened = await app.anonymous
      .get('/auth/device')
      .query({ user_code: login.user_code })
      .set('Cookie', before);
    const [, token] = /name="csrf_token" value="([\w-]+)"/.exec(opened.text)!;
    for (const user_code of [login.user_code, login.user_code.toLowerCase().replace('-', ' ')]) {
      const { text } = await submit({ Origin: PUBLIC_URL }, { csrf_token: token, user_code }).expect(403);
      const [, link] = /href="(\/auth\/device[^"]*)"/.exec(text)!;
      expect(link).toBe(`/auth/device?user_code=${login.user_code}`);
    }
    expect(await poll(app, login.device_code)).toBe('429 authorization_pending');
  });

  it.each(['"><b>', 'BBBB-BBBB&x=y', ''])('do not lead to the code %j', async (user_code) => {
    const { text } = await submit({ Origin: PUBLIC_URL }, { user_code }).expect(403);
    expect(text).toContain('<a href="/auth/device">');
  });

  it('do not lead back to their code if they come from another origin', async () => {
    const { text } = await submit({ Origin: 'https://evil.example' }, { csrf_token }).expect(403);
    expect(text).toContain('<a href="/auth/device">');
  });

  it('do not count as wrong codes', async () => {
    for (let i = 0; i < 40; i++)
      await submit({ Origin: 'https://evil.example' }, { user_code: 'x' }).expect(403);
    await ada.open(login.user_code).expect(200);
  });
});

it.each<[string, Record<string, string>]>([
  ['Sec-Fetch-Site', { 'Sec-Fetch-Site': 'same-origin' }],
  ['Sec-Fetch-Site, even with another Origin', { 'Sec-Fetch-Site': 'same-origin', Origin: 'null' }],
  ['Origin of PUBLIC_URL', { Origin: PUBLIC_URL }],
  ['Origin of the Host', { Origin: 'http://mint.internal:3000', Host: 'mint.internal:3000' }],
])('the approval page accepts its own forms by %s', async (_what, headers) => {
  const { device_code, user_code } = await beginLogin(app);
  const cookie = `theme=dark; mintkeep_session=${await sessionFor('ada', { iat: 1 })}; x=y`;
  const { text } = await app.anonymous
    .get('/auth/device')
    .query({ user_code })
    .set('Cookie', cookie)
    .expect(200);
  const csrf_token = csrfTokenIn(text);
  await app.anonymous
    .post('/auth/device/approve')
    .set({ Cookie: cookie, ...headers })
    .type('form')
    .send({ user_code, csrf_token })
    .expect(200);
  expect(await poll(app, device_code)).toMatch(KEY);
});

it('the approval page uses the path of PUBLIC_URL and the cookie SESSION_COOKIE_NAME', async () => {
  const below = await startApp({ PUBLIC_URL: 'https://example.com/mint/', SESSION_COOKIE_NAME: 'sid' });
  try {
    const login = await beginLogin(below);
    expect(login.verification_uri_complete).toBe(
      `https://example.com/mint/auth/device?user_code=${login.user_code}`,
    );
    const { text } = await below.anonymous
      .get('/auth/device')
      .query({ user_code: login.user_code })
      .set('Cookie', `mintkeep_session=x; sid=${await sessionFor('ada')}`)
      .expect(200);
    expect(text).toContain('formaction="/mint/auth/device/approve"');
  } finally {
    await below.close();
  }
});
