import { InvitationMailer } from '../../src/invitations/invitation-mailer.js';
import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { teamOwner } from '../support/owners.js';
import type { TestOwner } from '../support/owners.js';
import { startSmtp } from '../support/smtp.js';
import type { Mailbox } from '../support/smtp.js';

let mailbox: Mailbox;
let app: TestApp;
let team: TestOwner;

const settings = (port: number) => ({
  SMTP_URL: `smtp://127.0.0.1:${port}`,
  MAIL_FROM: 'mintkeep <no-reply@example.com>',
});

beforeEach(async () => {
  mailbox = await startSmtp();
  app = await startApp(settings(mailbox.port));
  team = await teamOwner(app);
});
afterEach(async () => {
  await app.close();
  await mailbox.stop();
});

const invite = async (email: string) =>
  (await team.admin.post(`${team.base}/invite`).send({ email, role: 'member' }).expect(201)).body;
const delivery = async (id: number): Promise<string> => {
  const { invitations } = (await team.admin.get(`${team.base}/invitations`)).body;
  return invitations.find((invitation: { id: number }) => invitation.id === id).email_delivery;
};
const queue = () => app.database.query<{ sealed_token: Buffer }>('SELECT * FROM invitation_mails');
/** A delivery may be under way that has looked into the queue before: then the next one does it. */
const deliverAgain = () =>
  eventually(async () => {
    await app.database.query('UPDATE invitation_mails SET due_at = now()');
    await app.app.get(InvitationMailer, { strict: false }).deliver();
    expect(await queue()).toEqual([]);
  });

it('brings the link to whoever is invited', async () => {
  await team.admin.put(team.base).send({ name: '<b>&"Acme"' }).expect(200);
  const { id, token, join_url, email_delivery } = await invite('bob@example.com');
  expect(email_delivery).toBe('queued');
  await eventually(async () => expect(await delivery(id)).toBe('sent'));
  expect(mailbox.mails).toHaveLength(1);
  const [{ to, text }] = mailbox.mails as [{ to: string; text: string }];
  expect(to).toBe('bob@example.com');
  expect(text).toContain(join_url);
  expect(text).toContain('From: mintkeep <no-reply@example.com>');
  expect(text).toContain('Join &lt;b&gt;&amp;&quot;Acme&quot;');
  expect(text).toContain('text/plain');
  expect(await queue()).toEqual([]);
  const bob = await app.as('bob');
  await bob.post('/me/invitations/accept').send({ token }).expect(200);
});

it('waits, encrypted, while the server is down, and is sent when it is back', async () => {
  const { port } = mailbox;
  await mailbox.stop();
  const { id, token } = await invite('bob@example.com');
  await app.app.get(InvitationMailer, { strict: false }).deliver();
  expect(await delivery(id)).toBe('queued');
  const [mail] = await queue();
  expect(mail!.sealed_token.includes(token)).toBe(false);
  mailbox = await startSmtp(port);
  await deliverAgain();
  expect(await delivery(id)).toBe('sent');
  expect(mailbox.mails[0]!.text).toContain(token);
});

it('is given up after the last attempt', async () => {
  await mailbox.stop();
  const { id } = await invite('bob@example.com');
  await app.app.get(InvitationMailer, { strict: false }).deliver();
  await app.database.query('UPDATE invitation_mails SET attempts = 8');
  await deliverAgain();
  expect(await delivery(id)).toBe('failed');
  expect(await queue()).toEqual([]);
});

it('has the latest token only', async () => {
  const { port } = mailbox;
  await mailbox.stop();
  const first = await invite('bob@example.com');
  const { body: second } = await team.admin.post(`${team.base}/invitations/${first.id}/resend`).expect(200);
  await app.app.get(InvitationMailer, { strict: false }).deliver();
  mailbox = await startSmtp(port);
  await deliverAgain();
  expect(mailbox.mails).toHaveLength(1);
  expect(mailbox.mails[0]!.text).toContain(second.token);
});

it('is not sent for an invitation that is over', async () => {
  const { port } = mailbox;
  await mailbox.stop();
  const { id } = await invite('bob@example.com');
  await app.app.get(InvitationMailer, { strict: false }).deliver();
  await team.admin.delete(`${team.base}/invitations/${id}`).expect(204);
  mailbox = await startSmtp(port);
  await deliverAgain();
  expect(mailbox.mails).toEqual([]);
});

it('is sent once by two replicas', async () => {
  const replica = await startApp(settings(mailbox.port), { database: app.database });
  try {
    const ids = [];
    for (let i = 0; i < 12; i++) ids.push((await invite(`person-${i}@example.com`)).id);
    await Promise.all(
      [app, replica].map(({ app: nest }) => nest.get(InvitationMailer, { strict: false }).deliver()),
    );
    await eventually(async () => expect(await queue()).toEqual([]));
    for (const id of ids) expect(await delivery(id)).toBe('sent');
    expect(new Set(mailbox.mails.map(({ to }) => to)).size).toBe(12);
    expect(mailbox.mails).toHaveLength(12);
  } finally {
    await replica.close();
  }
});
