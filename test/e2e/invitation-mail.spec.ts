import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { parseSettings } from '../../src/config/parse-settings.js';
import { InvitationExpiry } from '../../src/invitations/invitation-expiry.js';
import { InvitationMailer } from '../../src/invitations/invitation-mailer.js';
import { startApp, testVariables } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { connect, createDatabase, dump, lockedOut, nobodyLockedOut } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { expire, passMinute } from '../support/invitations.js';
import { invite, join, teamOwner } from '../support/owners.js';
import type { TestOwner } from '../support/owners.js';
import { inParallel, tally } from '../support/parallel.js';
import { holdBackJob } from '../support/scheduled-jobs.js';
import { startSmtp } from '../support/smtp.js';
import type { Mail, Smtp } from '../support/smtp.js';

/** The service gives up a mail server that is silent for so long. */
const SEND_TIMEOUT_MS = 45_000;

const MAIL_FROM = '"Mint & Keep" <noreply@mintkeep.example>';
const LAST_ATTEMPT = 9;

let smtp: Smtp;
let app: TestApp;
let team: TestOwner;
let count = 0;

beforeAll(async () => {
  smtp = await startSmtp();
  app = await startApp({ SMTP_URL: smtp.url, MAIL_FROM, DASHBOARD_URL: 'https://app.example.com/mint' });
});
afterAll(async () => {
  await app.close();
  await smtp.stop();
});
beforeEach(async () => {
  smtp.mails.length = 0;
  smtp.onMail = () => undefined;
  await app.database.query('DELETE FROM invitation_mails');
  team = await teamOwner(app);
});

const newAddress = () => `guest-${++count}@example.com`;
const userOf = (email: string) => email.slice(0, email.indexOf('@'));
const mailTo = (email: string, mails = smtp.mails) => mails.filter(({ to }) => to.includes(email));
const tokenIn = ({ text }: Mail) => /\/join\?token=([\w-]+)/.exec(text)![1]!;
const deliver = (...apps: TestApp[]) =>
  Promise.all(apps.map((one) => one.app.get(InvitationMailer).deliver()));

async function deliveryOf(id: number, owner = team): Promise<string> {
  const { body } = await owner.admin.get(`${owner.base}/invitations`).expect(200);
  return body.invitations.find((one: { id: number }) => one.id === id).email_delivery;
}

const becomes = (delivery: string, id: number, owner = team) =>
  eventually(async () => expect(await deliveryOf(id, owner)).toBe(delivery));

const waiting = async (database = app.database) =>
  (await database.query('SELECT invitation_id FROM invitation_mails')).length;

/** Creates an invitation whose mail the server has rejected once and which waits for its next attempt. */
async function inviteInVain() {
  smtp.onMail = () => Promise.reject(new Error('no room'));
  const email = newAddress();
  const { id, token } = await invite(team, email);
  await attempted(id);
  return { id, token, email, user: userOf(email), url: `${team.base}/invitations/${id}` };
}

/** Resolves when the first attempt to send the mail is over. */
async function attempted(id: number): Promise<void> {
  await eventually(async () => expect(await attemptsOf(id)).toBe(1));
  await deliver(app);
}

/** The server keeps the next mail that comes, until it is let go. */
function holdNextMail(): { arrived: Promise<Mail>; letGo: () => void } {
  let letGo: (() => void) | undefined;
  const held = new Promise<void>((resolve) => (letGo = resolve));
  const arrived = new Promise<Mail>((resolve) => {
    smtp.onMail = (mail) => {
      smtp.onMail = () => undefined;
      resolve(mail);
      return held;
    };
  });
  return { arrived, letGo: () => letGo!() };
}

/** Makes every queued mail due. */
const fallDue = (database = app.database) =>
  database.query(`UPDATE invitation_mails SET due_at = now() - interval '1 second'`);

describe('a mail', () => {
  it('contains the link that accepts the invitation', async () => {
    const email = newAddress();
    const { id, token, join_url, email_delivery } = await invite(team, email, 'admin');
    expect(email_delivery).toBe('queued');
    await becomes('sent', id);
    const [mail, ...more] = mailTo(email);
    expect(more).toEqual([]);
    expect(mail!.from).toBe('noreply@mintkeep.example');
    expect(mail!.headers).toMatch(/^From: "?Mint & Keep"? <noreply@mintkeep\.example>\r?$/m);
    expect(mail!.headers).toMatch(new RegExp(`^To: ${email}\r?$`, 'm'));
    expect(mail!.headers).toMatch(
      new RegExp(`^Subject: ${team.user}@example.com invites you to Acme\r?$`, 'm'),
    );
    expect(join_url).toBe(`https://app.example.com/mint/join?token=${token}`);
    expect(mail!.text.split(/\s+/)).toContain(join_url);
    expect(mail!.html).toContain(`href="${join_url}"`);
    expect(mail!.text).toContain('join Acme as an admin');
    expect(await waiting()).toBe(0);
    const guest = await app.as(userOf(email));
    await guest
      .post('/me/invitations/accept')
      .send({ token: tokenIn(mail!) })
      .expect(200);
    expect(await deliveryOf(id)).toBe('sent');
  });

  it('has no external resources and says how long the link is valid', async () => {
    const email = newAddress();
    const { id, expires_at } = await invite(team, email);
    await becomes('sent', id);
    const { text, html } = mailTo(email)[0]!;
    const until = `${expires_at.slice(0, 10)} at ${expires_at.slice(11, 16)} UTC`;
    for (const part of [text, html]) expect(part.replace(/\s+/g, ' ')).toContain(`valid until ${until}`);
    expect(html).not.toMatch(/<(img|script|link|iframe|style|form)\b|url\(|src=/i);
    expect([...html.matchAll(/https?:[^"<\s]*/g)].every(([link]) => link.includes('/join?token='))).toBe(
      true,
    );
  });

  it.each(['<b>&"Acme"', "O'Neill & <Söhne> 日本", '${x} {{y}} %s =41', '<a href="x">'])(
    'shows the organization’s name %j as it is, and no markup of it',
    async (name) => {
      await team.admin.put(team.base).send({ name }).expect(200);
      const email = newAddress();
      await becomes('sent', (await invite(team, email)).id);
      const { text, html, headers } = mailTo(email)[0]!;
      expect(text).toContain(name);
      expect(headers).toContain(`invites you to ${name}`);
      expect(unescape(html)).toContain(`<strong>${name}</strong>`);
      expect(html.match(/<(?:a|b|Söhne)\b/g)).toEqual(['<a']); // our own
    },
  );

  it('has one subject line and no foreign line, whatever the name', async () => {
    const name = 'Acme\r\nBcc: eve@evil.example';
    const { slug } = (await team.admin.put(team.base).send({ name }).expect(200)).body;
    const email = newAddress();
    await becomes('sent', (await invite(team, email)).id);
    const { to, headers, text } = mailTo(email)[0]!;
    expect(to).toEqual([email]);
    expect(text).toContain('to join Acme Bcc: eve@evil.example as');
    expect(headers).not.toMatch(/^Bcc:/im);
    expect(headers).toMatch(new RegExp(`^Subject: .* invites you to ${slug}\r?$`, 'm'));
  });

  it.each([
    ...['<a href="https://evil.example">', 'Claim at www.evil.example', 'evil.example', 'evil．example'],
    ...['evil。example', 'evil.\u200bexample', 'evil.\u0001example', 'ｗｗｗ．evil', 'evil.\u00adexample'],
  ])('has the slug in its subject if the name %j looks like an address', async (name) => {
    const { slug } = (await team.admin.put(team.base).send({ name }).expect(200)).body;
    const email = newAddress();
    await becomes('sent', (await invite(team, email)).id);
    const { headers, html } = mailTo(email)[0]!;
    expect(headers).toMatch(new RegExp(`^Subject: ${team.user}@example.com invites you to ${slug}\r?$`, 'm'));
    expect(html.match(/<a\b/g)).toEqual(['<a']); // our own
  });

  it.each([
    ['Ac\u202eme\u2066 \u0007L\u200btd', 'Acme Ltd'],
    ['\u202e\u200b', undefined],
  ])('shows the visible part of the name %j, or the slug', async (name, shown) => {
    const { body } = await team.admin.put(team.base).send({ name }).expect(200);
    const email = newAddress();
    await becomes('sent', (await invite(team, email)).id);
    const { headers, text, html } = mailTo(email)[0]!;
    const expected = shown ?? body.slug;
    expect(headers).toMatch(new RegExp(`^Subject: .* invites you to ${expected}\r?$`, 'm'));
    expect(text).toContain(`to join ${expected} as`);
    expect(html).toContain(`<strong>${expected}</strong>`);
  });

  it('shows the visible part of the inviter’s address', async () => {
    const inviter = await app.as(team.user, { email: `ada\u202e\u0007\n@example.com` });
    const email = newAddress();
    const { body } = await inviter.post(`${team.base}/invite`).send({ email, role: 'member' }).expect(201);
    await becomes('sent', body.id);
    expect(mailTo(email)[0]!.text).toContain('ada @example.com invites you');
  });

  it.each([
    '"a, eve@evil.example, b"@example.com',
    '"eve@evil.example x"@example.com',
    '"eve <eve@evil.example>"@example.com',
  ])('goes to no other address than %j', async (email) => {
    const { id } = await invite(team, email);
    await eventually(async () => expect(await attemptsOf(id)).not.toBe(0));
    await deliver(app);
    expect(smtp.mails.flatMap(({ to }) => to).filter((to) => to !== email)).toEqual([]);
  });

  it('contains only the new token after a resend', async () => {
    const email = newAddress();
    const { id, token } = await invite(team, email);
    await becomes('sent', id);
    await passMinute(app.database);
    const { body } = await team.admin.post(`${team.base}/invitations/${id}/resend`).expect(200);
    expect(body.email_delivery).toBe('queued');
    await becomes('sent', id);
    expect(mailTo(email).map(tokenIn)).toEqual([token, body.token]);
  });
});

it('a queued mail contains the token of the last response, even if that is rate_limited', async () => {
  const held = holdNextMail();
  await invite(team, newAddress());
  await held.arrived;
  const email = newAddress();
  const { id } = await invite(team, email);
  const { body } = await team.admin.post(`${team.base}/invitations/${id}/resend`).expect(200);
  expect(body.email_delivery).toBe('rate_limited');
  held.letGo();
  await becomes('sent', id);
  expect(mailTo(email).map(tokenIn)).toEqual([body.token]);
});

describe('the limits of mails, which invitations do not have,', () => {
  let replica: TestApp;
  let admins: TestOwner['admin'][];

  beforeAll(async () => {
    replica = await startApp({ SMTP_URL: smtp.url, MAIL_FROM }, { database: app.database });
  });
  afterAll(() => replica.close());
  beforeEach(async () => {
    admins = [team.admin, await replica.as(team.user)];
  });

  /** Invites at both replicas. */
  const inviteOne = async (i: number, owner = team) =>
    (
      await admins[i % 2]!.post(`${owner.base}/invite`)
        .send({ email: newAddress(), role: 'member' })
        .expect(201)
    ).body as { id: number; email: string; email_delivery: string; token: string };

  const resend = async (id: number, i = 0) =>
    (await admins[i % 2]!.post(`${team.base}/invitations/${id}/resend`).expect(200)).body as {
      email_delivery: string;
      token: string;
    };

  const deliveries = (answers: { email_delivery: string }[]) =>
    tally(answers.map(({ email_delivery }) => email_delivery));

  /** Simulates this many mails in the last hour. */
  const grantMails = (
    mails: number,
    { organizationId = 0, user = 'somebody' }: Partial<TestOwner>,
    id: number,
  ) =>
    app.database.query(
      `INSERT INTO invitation_mail_grants (invitation_id, organization_id, inviter_user_id, granted_at)
       SELECT $1, $2, $3, now() - interval '59 minutes' FROM generate_series(1, $4)`,
      [id, organizationId, user, mails],
    );

  /** Moves all mails one hour into the past. */
  const passHour = () =>
    app.database.query(`UPDATE invitation_mail_grants SET granted_at = granted_at - interval '1 hour'`);

  it('allow one mail per minute for an invitation, also with parallel requests', async () => {
    const { id, email, token } = await inviteOne(0);
    await becomes('sent', id);
    const early = await inParallel(10, (i) => resend(id, i));
    expect(deliveries(early)).toEqual({ rate_limited: 10 });
    expect(await deliveryOf(id)).toBe('rate_limited');
    await passMinute(app.database);
    const late = await inParallel(10, (i) => resend(id, i));
    expect(deliveries(late)).toEqual({ queued: 1, rate_limited: 9 });
    await deliver(app, replica);
    expect(await waiting()).toBe(0);
    expect(mailTo(email).length).toBeLessThanOrEqual(2); // the second may be replaced before it is sent
    expect(mailTo(email).map(tokenIn)[0]).toBe(token);
  });

  it('leave the link of the response valid, and a queued mail with an invalid link unsent', async () => {
    const { id, email, user } = await inviteInVain();
    const { token, email_delivery } = await resend(id);
    expect(email_delivery).toBe('rate_limited');
    expect(await waiting()).toBe(0);
    smtp.onMail = () => undefined;
    await deliver(app, replica);
    expect(mailTo(email)).toEqual([]);
    await (await app.as(user)).post('/me/invitations/accept').send({ token }).expect(200);
    expect(await deliveryOf(id)).toBe('rate_limited');
  });

  it('allow five mails for an invitation', async () => {
    const { id } = await inviteOne(0);
    for (let i = 1; i <= 6; i++) {
      await passMinute(app.database);
      expect([i, (await resend(id)).email_delivery]).toEqual([i, i < 5 ? 'queued' : 'rate_limited']);
    }
    await passHour();
    expect((await resend(id)).email_delivery).toBe('rate_limited');
  });

  it('allow 100 mails per hour for an organization, for all inviters and all outcomes', async () => {
    const first = await inviteOne(0);
    await grantMails(90, { organizationId: team.organizationId }, first.id);
    const answers = await inParallel(20, (i) => inviteOne(i));
    expect(deliveries(answers)).toEqual({ queued: 9, rate_limited: 11 });
    for (const { id } of answers) await team.admin.delete(`${team.base}/invitations/${id}`).expect(204);
    const email = answers[0]!.email;
    expect((await invite(team, email)).email_delivery).toBe('rate_limited');
    const colleague = await join(app, team, userOf(newAddress()), 'admin');
    const { body } = await colleague
      .post(`${team.base}/invite`)
      .send({ email: newAddress(), role: 'member' })
      .expect(201);
    expect(body.email_delivery).toBe('rate_limited');
    await passHour();
    expect((await inviteOne(0)).email_delivery).toBe('queued');
  });

  it('allow 100 mails per hour for an inviter in all organizations together, including deleted ones', async () => {
    const first = await inviteOne(0);
    await grantMails(90, { user: team.user }, first.id);
    const teams = await inParallel(4, async (i) => {
      const { body } = await team.admin
        .post('/me/organizations')
        .send({ name: 'More', slug: `more-${team.organizationId}-${i}` })
        .expect(201);
      return { ...team, base: `/me/organizations/${body.id}`, organizationId: body.id as number };
    });
    const answers = await inParallel(20, (i) => inviteOne(i, teams[i % 4]));
    expect(deliveries(answers)).toEqual({ queued: 9, rate_limited: 11 });
    for (const { base } of teams) await team.admin.delete(base).expect(200);
    expect((await inviteOne(0)).email_delivery).toBe('rate_limited');
    await passHour();
    expect((await inviteOne(0)).email_delivery).toBe('queued');
  });
});

describe('a service without a mail server', () => {
  it('lets invitations work by the link', async () => {
    const silent = await startApp();
    try {
      const owner = await teamOwner(silent);
      const { token, ...invitation } = await invite(owner, 'ann@example.com');
      const { id } = invitation;
      expect(invitation).not.toHaveProperty('email_delivery');
      await silent.app.get(InvitationMailer).deliver();
      const { body } = await owner.admin.post(`${owner.base}/invitations/${id}/resend`).expect(200);
      expect(body).not.toHaveProperty('email_delivery');
      expect(await waiting(silent.database)).toBe(0);
      const ann = await silent.as('ann');
      await ann.post('/me/invitations/accept').send({ token }).expect(404);
      await ann.post('/me/invitations/accept').send({ token: body.token }).expect(200);
      expect(await deliveryOf(id, owner)).toBeUndefined();
    } finally {
      await silent.close();
    }
  });

  it.each([
    [{ SMTP_URL: 'smtp://mail.example.com' }, 'MAIL_FROM'],
    [{ MAIL_FROM: 'a@example.com' }, 'MAIL_FROM'],
    [{ SMTP_URL: 'http://mail.example.com', MAIL_FROM: 'a@example.com' }, 'SMTP_URL'],
    [{ SMTP_URL: 'smtp://mail.example.com', MAIL_FROM: 'nobody' }, 'MAIL_FROM'],
  ])('does not start with %j', (variables, named) => {
    const all = { ...testVariables(app.database.url, app.dataDir), ...variables };
    expect(() => parseSettings(all)).toThrow(new RegExp(`^${named} `));
  });
});

describe('a mail during an outage of the mail server', () => {
  it('does not prevent the invitation, and is sent once the server is back', async () => {
    await smtp.stop();
    const email = newAddress();
    const { id, token } = await invite(team, email);
    try {
      await attempted(id);
      expect(await deliveryOf(id)).toBe('queued');
      expect(await attemptsOf(id)).toBe(1); // no second one before its time
    } finally {
      smtp = await startSmtp(smtp.port);
    }
    await fallDue();
    await deliver(app);
    expect(await deliveryOf(id)).toBe('sent');
    expect(mailTo(email).map(tokenIn)).toEqual([token]);
  });

  it('is retried with a delay that doubles up to an hour, and given up after the last attempt', async () => {
    const { id, token, user } = await inviteInVain();
    const delays = [await minutesUntilNext(id)];
    for (let attempt = 2; attempt < LAST_ATTEMPT; attempt++) {
      await fallDue();
      await deliver(app);
      expect([attempt, await attemptsOf(id)]).toEqual([attempt, attempt]);
      expect(await deliveryOf(id)).toBe('queued');
      delays.push(await minutesUntilNext(id));
    }
    expect(delays).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
    await fallDue();
    await deliver(app);
    expect(await deliveryOf(id)).toBe('failed');
    expect(await waiting()).toBe(0);

    smtp.onMail = () => undefined;
    await (await app.as(user)).post('/me/invitations/accept').send({ token }).expect(200);
    expect(smtp.mails).toEqual([]);
  });

  it('is attempted from the start after a resend', async () => {
    const { id, email, url } = await inviteInVain();
    await app.database.query('UPDATE invitation_mails SET attempts = $1', [LAST_ATTEMPT - 1]);
    await fallDue();
    await deliver(app);
    expect(await deliveryOf(id)).toBe('failed');
    smtp.onMail = () => undefined;
    await passMinute(app.database);
    const { body } = await team.admin.post(`${url}/resend`).expect(200);
    expect(body.email_delivery).toBe('queued');
    await becomes('sent', id);
    expect(mailTo(email).map(tokenIn)).toEqual([body.token]);
  });

  it('contains only the last token after a resend', async () => {
    const { id, email, url } = await inviteInVain();
    await passMinute(app.database);
    await team.admin.post(`${url}/resend`).expect(200);
    await passMinute(app.database);
    const { body } = await team.admin.post(`${url}/resend`).expect(200);
    await attempted(id);
    smtp.onMail = () => undefined;
    await fallDue();
    await deliver(app);
    expect(mailTo(email).map(tokenIn)).toEqual([body.token]);
  });

  it('has a token that is encrypted in the database', async () => {
    const { token } = await inviteInVain();
    const everything = await dump(app.database);
    expect(everything).toContain('sealed_token');
    expect(everything).not.toContain(token);
    expect(everything).not.toContain(Buffer.from(token).toString('hex'));
    expect(everything).not.toContain(Buffer.from(token, 'base64url').toString('hex'));
  });

  type Waiting = Awaited<ReturnType<typeof inviteInVain>>;

  it.each([
    ['cancelled', ({ url }: Waiting) => team.admin.delete(url).expect(204)],
    [
      'declined',
      async ({ id, user }: Waiting) => (await app.as(user)).post(`/me/invitations/${id}/decline`).expect(204),
    ],
    [
      'accepted',
      async ({ id, user }: Waiting) => (await app.as(user)).post(`/me/invitations/${id}/accept`).expect(200),
    ],
  ])(
    'is taken back at once if its invitation is %s meanwhile, which does not say that it will be sent',
    async (_, end) => {
      const invitation = await inviteInVain();
      await end(invitation);
      expect(await waiting()).toBe(0);
      expect(await deliveryOf(invitation.id)).toBe('failed');
    },
  );

  it('is not sent and is reported as failed if its invitation has expired', async () => {
    const { id } = await inviteInVain();
    await expire(app.database, id);
    await app.app.get(InvitationExpiry).run();
    smtp.onMail = () => undefined;
    await fallDue();
    await deliver(app);
    expect(smtp.mails).toEqual([]);
    expect(await waiting()).toBe(0);
    expect(await deliveryOf(id)).toBe('failed');
  });

  it('is deleted with its organization', async () => {
    await inviteInVain();
    await team.admin.delete(team.base).expect(200);
    expect(await waiting()).toBe(0);
  });
});

describe('a mail server that does not respond', () => {
  let silent: Awaited<ReturnType<typeof startSilentServer>>;

  beforeEach(async () => {
    silent = await startSilentServer();
  });
  afterEach(() => silent.stop());

  it('delays neither requests nor the shutdown', async () => {
    const database = await createDatabase();
    const slow = await startApp({ SMTP_URL: silent.url, MAIL_FROM }, { database });
    const owner = await teamOwner(slow);
    const began = performance.now();
    for (let i = 0; i < 10; i++) await invite(owner, newAddress());
    const [{ id }] = (await owner.admin.get(`${owner.base}/invitations`)).body.invitations;
    await passMinute(database);
    await owner.admin.post(`${owner.base}/invitations/${id}/resend`).expect(200);
    await join(slow, owner, 'speedy', 'member');
    expect(performance.now() - began).toBeLessThan(SEND_TIMEOUT_MS / 2);
    await eventually(() => expect(silent.connections()).toBe(1));
    const closing = performance.now();
    await slow.close();
    expect(performance.now() - closing).toBeLessThan(SEND_TIMEOUT_MS / 2);
    // The one that was under way has begun anew since; no other was begun.
    const tried = await database.query('SELECT 1 FROM invitation_mails WHERE attempts > 0');
    expect(tried).toEqual([]);
    await database.drop();
  });
});

describe('two replicas', () => {
  let replica: TestApp;
  let job: Awaited<ReturnType<typeof holdBackJob>>;

  beforeAll(async () => {
    replica = await startApp({ SMTP_URL: smtp.url, MAIL_FROM }, { database: app.database });
    job = await holdBackJob(app.database, 'send_mails'); // the tests decide which replica sends
  });
  afterAll(async () => {
    await job.end();
    await replica.close();
  });

  /** Mails that are due, behind one that the server keeps: the first replica is at that. */
  async function mailsBehindAnother(n: number) {
    const held = holdNextMail();
    const emails = [newAddress()];
    await invite(team, emails[0]!);
    await held.arrived;
    emails.push(...(await inParallel(n, async () => (await invite(team, newAddress())).email)));
    return { emails, held };
  }

  const expectOneEach = async (emails: string[]) => {
    expect(smtp.mails.flatMap(({ to }) => to).sort()).toEqual([...emails].sort());
    expect(await waiting()).toBe(0);
  };

  it('send each mail once', async () => {
    const { emails, held } = await mailsBehindAnother(19);
    const delivered = deliver(app, replica, app, replica);
    held.letGo();
    await delivered;
    await expectOneEach(emails);
  });

  it('skip a mail that another replica is leasing', async () => {
    await inviteInVain();
    await fallDue();
    const other = await connect(app.database);
    try {
      await other.query('BEGIN');
      await other.query('SELECT 1 FROM invitation_mails FOR UPDATE');
      smtp.onMail = () => undefined;
      await deliver(app, replica);
      expect(smtp.mails).toEqual([]);
    } finally {
      await other.end();
    }
  });

  it('send each mail once, also if the server delays one replica', async () => {
    const { emails, held } = await mailsBehindAnother(5);
    const second = holdNextMail();
    const delivered = deliver(app);
    held.letGo();
    const { to } = await second.arrived;
    await app.database.query(
      `UPDATE invitation_mails m SET due_at = now() - interval '1 second'
       FROM invitations i WHERE i.id = m.invitation_id AND i.email <> $1`,
      [to[0]],
    );
    await deliver(replica);
    second.letGo();
    await delivered;
    await expectOneEach(emails);
  });
});

describe('a mail that is being sent', () => {
  /** Does something between the server's getting the mail and its acknowledging it. */
  async function meanwhile<T>(work: (mail: Mail) => Promise<T>): Promise<{ id: number; result: T }> {
    const outcome = new Promise<T>((resolve, reject) => {
      smtp.onMail = (mail) => work(mail).then(resolve, reject);
    });
    const { id } = await invite(team, newAddress());
    const result = await outcome;
    smtp.onMail = () => undefined;
    return { id, result };
  }

  it('does not hold up an acceptance, and counts as sent', async () => {
    const { id } = await meanwhile(async (mail) => {
      const guest = await app.as(userOf(mail.to[0]!));
      await guest
        .post('/me/invitations/accept')
        .send({ token: tokenIn(mail) })
        .expect(200);
    });
    await becomes('sent', id);
    expect(await waiting()).toBe(0);
  });

  it('is followed by another mail after a resend, and its link is invalid', async () => {
    const { id, result } = await meanwhile(async ({ to, ...mail }) => {
      const { body } = await team.admin.get(`${team.base}/invitations`).expect(200);
      const { id: pending } = body.invitations.find((one: { email: string }) => one.email === to[0]);
      await passMinute(app.database);
      const { body: again } = await team.admin.post(`${team.base}/invitations/${pending}/resend`).expect(200);
      return { to: to[0]!, first: tokenIn({ to, ...mail }), second: again.token as string };
    });
    await fallDue();
    await deliver(app);
    await becomes('sent', id);
    expect(mailTo(result.to).map(tokenIn)).toEqual([result.first, result.second]);
    const guest = await app.as(userOf(result.to));
    const accept = (token: string) => guest.post('/me/invitations/accept').send({ token });
    await accept(result.first).expect(404);
    await accept(result.second).expect(200);
  });

  it('lets concurrent ends of its invitation proceed without blocking each other', async () => {
    const statuses: number[] = [];
    for (let round = 0; round < 3; round++) {
      const acknowledged: Promise<void>[] = [];
      smtp.onMail = ({ to }) => {
        acknowledged.push(
          (async () => {
            const user = await app.as(userOf(to[0]!));
            const { invitations } = (await user.get('/me/invitations')).body;
            const id = invitations[0]?.id as number;
            const { status } = await team.admin.delete(`${team.base}/invitations/${id}`);
            statuses.push(status);
          })(),
        );
      };
      await inParallel(5, () => invite(team, newAddress()));
      await eventually(() => expect(acknowledged).toHaveLength(5));
      await Promise.all(acknowledged);
    }
    expect(tally(statuses)).toEqual({ 204: 15 });
    await eventually(async () => expect(await waiting()).toBe(0));
  });

  it('waits for its locked invitation without blocking others', async () => {
    const holder = await connect(app.database);
    try {
      const acknowledged = new Promise<string>((resolve) => {
        smtp.onMail = async ({ to }) => {
          await holder.query('BEGIN');
          await holder.query('SELECT 1 FROM invitations WHERE email = $1 FOR UPDATE', [to[0]]);
          resolve(to[0]!);
        };
      });
      const { id } = await invite(team, newAddress());
      await acknowledged;
      await lockedOut(app.database, 1);
      await nobodyLockedOut(app.database);
      const deleted = holder.query('DELETE FROM invitation_mails WHERE invitation_id = $1', [id]);
      await expect(deleted).resolves.toMatchObject({ rowCount: 1 });
      await holder.query('COMMIT');
      await becomes('sent', id);
    } finally {
      await holder.end();
    }
  });
});

async function attemptsOf(id: number): Promise<number | undefined> {
  const [row] = await app.database.query<{ attempts: number }>(
    'SELECT attempts FROM invitation_mails WHERE invitation_id = $1',
    [id],
  );
  return row?.attempts;
}

async function minutesUntilNext(id: number): Promise<number> {
  const [row] = await app.database.query<{ minutes: number }>(
    'SELECT extract(epoch FROM due_at - now())::float / 60 AS minutes FROM invitation_mails WHERE invitation_id = $1',
    [id],
  );
  return Math.round(row!.minutes);
}

/** Text of HTML without entities. */
function unescape(html: string): string {
  const entities: Record<string, string> = { lt: '<', gt: '>', quot: '"', '#39': "'", '#x27': "'", amp: '&' };
  return html.replace(/&(#?\w+);/g, (whole, name: string) => entities[name] ?? whole);
}

/** Takes connections and never greets. */
async function startSilentServer() {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => sockets.size,
    stop: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
