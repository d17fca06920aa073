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

/** What is on a page, as one reads it. */
const words = (page: string): string =>
  page
    .replace(/<style>.*<\/style>|<[^>]*>/gs, ' ')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, '&')
    .replace(/\s+/g, ' ');

describe('without a session', () => {
  it.each([undefined, 'mintkeep_session=', 'mintkeep_session=x.y.z', 'other=1', 'mintkeep_session'])(
    'with the cookie %j the sign-in comes first, and leads back',
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

  it('comes back to the page itself when there was no code', async () => {
    const { headers } = await app.anonymous.get('/auth/device').expect(303);
    expect(new URL(headers.location!).searchParams.get('return_to')).toBe(`${PUBLIC_URL}/auth/device`);
  });

  it.each(['expired', 'forged'])('counts an %s one as none', async (which) => {
    const token =
      which === 'expired'
        ? await sessionFor('ada', { exp: Math.floor(Date.now() / 1_000) - 60 })
        : `${(await sessionFor('ada')).slice(0, -4)}AAAA`;
    await app.anonymous.get('/auth/device').set('Cookie', `mintkeep_session=${token}`).expect(303);
  });

  it('takes no session from the Authorization header', async () => {
    const session = await sessionFor('ada');
    await app.anonymous.get('/auth/device').set('Authorization', `Bearer ${session}`).expect(303);
  });

  /** Where a page that is not a redirect leads to; browsers would hold one against the policy of the form. */
  const linkOf = ({ text, headers }: { text: string; headers: Record<string, string> }) => {
    expect(words(text)).toContain('Sign in first');
    expect(headers).not.toHaveProperty('location');
    return new URL(/class="button" href="([^"]*)"/.exec(text)![1]!.replaceAll('&amp;', '&'));
  };

  it.each(['approve', 'deny'])(
    'answers %s by a page that leads to the sign-in, and back',
    async (decision) => {
      const { device_code, user_code } = await beginLogin(app);
      const csrf_token = await ada.csrfToken(user_code);
      const answer = await app.anonymous
        .post(`/auth/device/${decision}`)
        .set('Origin', PUBLIC_URL)
        .type('form')
        .send({ user_code, csrf_token })
        .expect(401);
      const link = linkOf(answer);
      expect(link.origin + link.pathname).toBe('https://id.example.com/sign-in');
      expect(link.searchParams.get('return_to')).toBe(`${PUBLIC_URL}/auth/device?user_code=${user_code}`);
      expect(await poll(app, device_code)).toBe('429 authorization_pending');
    },
  );

  it('answers the form in which a code is typed by that page, too', async () => {
    const { text, headers } = await ada.open().expect(200);
    expect(text).toContain('<input type="hidden" name="by_form" value="yes" />');
    expect(headers['content-security-policy']).toContain("form-action 'self';");
    const answer = await app.anonymous
      .get('/auth/device')
      .query({ by_form: 'yes', user_code: '"><b>' })
      .expect(401);
    const back = new URL(linkOf(answer).searchParams.get('return_to')!);
    expect(Object.fromEntries(back.searchParams)).toEqual({ user_code: '"><b>' });
  });

  it('does not count codes as wrong', async () => {
    const { user_code } = await beginLogin(app);
    for (let i = 0; i < 40; i++) await app.anonymous.get('/auth/device?user_code=x').expect(303);
    await ada.open(user_code).expect(200);
  });

  it('says so where no sign-in is known', async () => {
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

describe('the page', () => {
  it('asks for a code when it was given none', async () => {
    for (const code of [undefined, '', '  ']) {
      const { text } = await ada.open(code).expect(200);
      expect(words(text)).toContain('Enter the code that your device shows.');
      expect(text).toContain('<form method="get" action="/auth/device">');
    }
  });

  it('is a new one each time, whatever the browser says that it has', async () => {
    const { user_code } = await beginLogin(app);
    for (const code of [undefined, user_code]) {
      const { headers } = await ada.open(code).set('If-None-Match', '*').expect(200);
      expect(headers).not.toHaveProperty('etag');
    }
  });

  it('shows a team by what can be read of its name, in its order', async () => {
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

  it('tells teams of the same name apart, before the approval and after it', async () => {
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

  it('shows all there is to know, and approves nothing', async () => {
    const team = await teamOwner(app);
    const { slug } = (await team.admin.get(team.base)).body;
    const browser = await TestBrowser.of(app, team.user);
    const { body: login } = await app.anonymous
      .post('/auth/device/code')
      .set('X-Forwarded-For', '203.0.113.7')
      .send({ name: 'mint <CLI>', hostname: 'box.local' })
      .expect(200);
    await letPass(app, 90);
    for (let i = 0; i < 3; i++) {
      const { text, headers } = await browser.open(login.user_code.toLowerCase()).expect(200);
      const page = words(text);
      expect(text).toContain(`<p class="code">${login.user_code}</p>`);
      for (const part of [
        'mint &lt;CLI&gt; on box.local as the device calls itself (unverified)',
        '203.0.113.7 This browser is elsewhere, at 127.0.0.1',
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

  it('says when the device is where the browser is', async () => {
    const { user_code } = await beginLogin(app);
    const { text } = await ada.open(user_code).expect(200);
    expect(words(text)).toContain('127.0.0.1 the address of this browser, too');
    expect(words(text)).not.toContain('elsewhere');
  });

  it('marks one pool, the personal one, also among many', async () => {
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

  it('approves for the personal pool, or the team that was chosen', async () => {
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
    'denies, whichever pool was chosen: %j',
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

  it('gives one answer for codes that are unknown, malformed, expired and used', async () => {
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
    const answers = new Set<string>();
    for (const user_code of codes) {
      await app.database.query('DELETE FROM rate_limits');
      for (const request of [
        ada.open(user_code),
        ada.submit('approve', { user_code, csrf_token }),
        ada.submit('deny', { user_code, csrf_token }),
      ]) {
        answers.add((await request.expect(404)).text);
      }
    }
    expect(answers.size).toBe(1);
    expect(words([...answers][0]!)).toContain('This code cannot be used');
    await app.anonymous
      .get('/auth/device?user_code=a&user_code=b')
      .set('Cookie', `mintkeep_session=${await sessionFor('ada')}`)
      .expect(404);
  });

  it('stops people who try codes, with the JSON twin counting along', async () => {
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
      expect(words(text)).toContain('You can go on in 10 minutes');
      expect(Number(headers['retry-after'])).toBeGreaterThan(590);
    }
    await browser.open().expect(200);
    expect(await poll(app, device_code)).toBe('429 authorization_pending');
  });

  it('neither looks up nor counts a code that a link of another site brings', async () => {
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

  it('can be posted nothing but a form', async () => {
    const cookie = `mintkeep_session=${await sessionFor('ada')}`;
    for (const body of ['{}', '', '{"user_code": "x"}']) {
      const { text } = await app.anonymous
        .post('/auth/device/approve')
        .set({ Cookie: cookie, Origin: PUBLIC_URL, 'Content-Type': 'application/json' })
        .send(body)
        .expect(400);
      expect(words(text)).toContain('That did not work');
    }
  });
});

describe('forms from elsewhere', () => {
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
    ['nothing tells where from', {}],
    ['another site', { 'Sec-Fetch-Site': 'cross-site', Origin: PUBLIC_URL }],
    ['a sibling site', { 'Sec-Fetch-Site': 'same-site', Origin: PUBLIC_URL }],
    ['no page at all', { 'Sec-Fetch-Site': 'none' }],
    ['another origin', { Origin: 'https://evil.example' }],
    ['an origin that begins alike', { Origin: `${PUBLIC_URL}.evil.example` }],
    ['an opaque origin', { Origin: 'null' }],
    ['an empty origin', { Origin: '' }],
  ])('are refused: %s', async (_what, headers) => {
    for (const decision of ['approve', 'deny']) {
      const { text } = await submit(headers, { csrf_token }, decision)
        .expect(403)
        .expect('Content-Type', /html/);
      expect(words(text)).toContain('csrf_failed');
    }
    expect(await poll(app, login.device_code)).toBe('429 authorization_pending');
  });

  it.each(['', 'x', 'A'.repeat(43), 'ü'.repeat(43)])('are refused with the token %j', async (token) => {
    await submit({ Origin: PUBLIC_URL }, { csrf_token: token }).expect(403);
    await submit({ 'Sec-Fetch-Site': 'same-origin' }, { csrf_token: token }).expect(403);
    expect(await poll(app, login.device_code)).toBe('429 authorization_pending');
  });

  it("are refused with another session's token", async () => {
    const eve = await TestBrowser.of(app, 'eve');
    const token = await eve.csrfToken(login.user_code);
    await ada.submit('approve', { user_code: login.user_code, csrf_token: token }).expect(403);
    await ada.submit('deny', { user_code: login.user_code, csrf_token: token }).expect(403);
    expect(await poll(app, login.device_code)).toBe('429 authorization_pending');
  });

  it("lead back to their code when they are of a session of the same user's before", async () => {
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

  it('lead to no code when they are from another origin', async () => {
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
  ['Sec-Fetch-Site, whatever Origin says', { 'Sec-Fetch-Site': 'same-origin', Origin: 'null' }],
  ['Origin of PUBLIC_URL', { Origin: PUBLIC_URL }],
  ['Origin of the Host', { Origin: 'http://mint.internal:3000', Host: 'mint.internal:3000' }],
])('takes forms of its own by %s', async (_what, headers) => {
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

it('stays below the path of PUBLIC_URL, and takes the session from the cookie of that name', async () => {
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
