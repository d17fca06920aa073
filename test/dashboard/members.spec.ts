import { eventually } from '../support/eventually.js';
import { CHROMIUM, describeWith } from '../support/requirements.js';
import { seriousViolations, sidewaysScroll } from './support/accessibility.js';
import { startDashboard } from './support/dashboard.js';
import { noticed } from './support/notices.js';
import type { Dashboard, Person } from './support/dashboard.js';

describeWith(CHROMIUM, 'members and invitations', () => {
  let dashboard: Dashboard;
  let teams = 0;
  beforeAll(async () => {
    dashboard = await startDashboard();
  });
  afterAll(() => dashboard.close());

  /** Creates a team and returns the path of its pages. */
  async function createTeam(person: Person, name: string): Promise<{ id: number; path: string }> {
    const { body } = await person.agent
      .post('/me/organizations')
      .send({ name, slug: `team-${++teams}` })
      .expect(201);
    return { id: body.id, path: `${dashboard.url}/o/${body.id}` };
  }

  async function addMember(admin: Person, team: number, person: Person): Promise<void> {
    const { body } = await admin.agent
      .post(`/me/organizations/${team}/invite`)
      .send({ email: person.email, role: 'member' });
    await person.agent.post('/me/invitations/accept').send({ token: body.token }).expect(200);
  }

  async function roleOf({ agent }: Person, team: number, { email }: Person): Promise<string | undefined> {
    const { body } = await agent.get(`/me/organizations/${team}/members`).expect(200);
    return (body.members as { email: string; role: string }[]).find((member) => member.email === email)?.role;
  }

  it('leads from the invitation to the team, through the sign-in', async () => {
    const ada = await dashboard.signedIn('ada-1');
    const team = await createTeam(ada, 'Acme');
    await ada.page.goto(`${team.path}/members`);
    await ada.page.getByRole('button', { name: 'Invite', exact: true }).click();
    await ada.page.getByLabel('E-mail address').fill('newcomer@example.com');
    await ada.page.getByRole('dialog').getByRole('button', { name: 'Invite', exact: true }).click();
    const link = await ada.page.getByLabel('Invitation link', { exact: true }).inputValue();
    await ada.page.keyboard.press('Escape');
    expect(await ada.page.getByLabel('Invitation link', { exact: true }).inputValue()).toBe(link);
    await ada.page.getByRole('button', { name: 'Done' }).click();
    await ada.page.getByRole('tab', { name: 'Invitations' }).click();
    await ada.page.getByText('newcomer@example.com').waitFor();
    expect(await ada.page.getByText(link).count()).toBe(0);

    const { page } = await dashboard.open();
    await page.goto(dashboard.url + new URL(link).pathname + new URL(link).search);
    await page.getByText('Sign in with the address that it was sent to.').waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByLabel('E-mail address').fill('newcomer@example.com');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('ada-1@example.com invites you as a member.').waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Join Acme' }).click();
    await page.getByRole('button', { name: 'Switch from Acme' }).waitFor();

    await page.goto(dashboard.url + new URL(link).pathname + new URL(link).search);
    await page.getByRole('button', { name: 'Join Acme' }).click(); // once more is no error for a member
    await page.getByRole('button', { name: 'Switch from Acme' }).waitFor();
  });

  it('explains wrong, cancelled and unknown invitations', async () => {
    const ada = await dashboard.signedIn('ada-2');
    const team = await createTeam(ada, 'Acme');
    const { body: invitation } = await ada.agent
      .post(`/me/organizations/${team.id}/invite`)
      .send({ email: 'right@example.com', role: 'member' });
    const wrong = await dashboard.signedIn('wrong');
    await wrong.page.goto(`${dashboard.url}/join?token=${invitation.token}`);
    await wrong.page
      .getByText('It was sent to right@example.com. You are signed in as wrong@example.com.')
      .waitFor();
    await wrong.page.goto(`${dashboard.url}/join?token=123456`);
    await wrong.page.getByRole('heading', { name: 'This invitation does not exist' }).waitFor();
    await wrong.page.goto(`${dashboard.url}/join`);
    await wrong.page.getByRole('heading', { name: 'The link is incomplete' }).waitFor();
    await ada.agent.delete(`/me/organizations/${team.id}/invitations/${invitation.id}`).expect(204);
    const right = await dashboard.signedIn('right');
    await right.page.goto(`${dashboard.url}/join?token=${invitation.token}`);
    await right.page.getByRole('heading', { name: 'This invitation was cancelled' }).waitFor();
  });

  it('explains expired and used invitations, with the id of the request', async () => {
    const ada = await dashboard.signedIn('ada-7');
    const team = await createTeam(ada, 'Acme');
    const invite = async (email: string) =>
      (
        await ada.agent
          .post(`/me/organizations/${team.id}/invite`)
          .send({ email, role: 'member' })
          .expect(201)
      ).body as { id: number; token: string };
    const { page } = await dashboard.signedIn('late-7');
    const late = await invite('late-7@example.com');
    const link = `${dashboard.url}/join?token=${late.token}`;
    await page.goto(link);
    await page.getByRole('button', { name: 'Join Acme' }).waitFor();
    await dashboard.app.database.query(
      "UPDATE invitations SET expires_at = now() - interval '1 day' WHERE id = $1",
      [late.id],
    );
    await page.getByRole('button', { name: 'Join Acme' }).click(); // the page was open when it expired
    await page.getByRole('heading', { name: 'This invitation has expired' }).waitFor();
    await page.getByText(/^Request [\w-]+/).waitFor();
    await page.goto(link);
    await page.getByRole('heading', { name: 'This invitation has expired' }).waitFor();

    const guest = await dashboard.signedIn('guest-7');
    const used = await invite(guest.email);
    await guest.agent.post('/me/invitations/accept').send({ token: used.token }).expect(200);
    await guest.agent.delete(`/me/organizations/${team.id}/members/me`).expect(200);
    await guest.page.goto(`${dashboard.url}/join?token=${used.token}`);
    await guest.page.getByRole('button', { name: 'Join Acme' }).click();
    await guest.page.getByRole('heading', { name: 'This invitation was used already' }).waitFor();
    expect(await seriousViolations(guest.page)).toEqual([]);
  });

  it('shows received invitations as a badge, and accepts and declines them', async () => {
    const ada = await dashboard.signedIn('ada-3');
    const first = await createTeam(ada, 'First');
    const second = await createTeam(ada, 'Second');
    for (const { id } of [first, second])
      await ada.agent
        .post(`/me/organizations/${id}/invite`)
        .send({ email: 'guest@example.com', role: 'admin' });
    const { page } = await dashboard.signedIn('guest');
    await page.goto(dashboard.url);
    await page.getByLabel('2 pending invitations').click();
    await page.getByRole('menuitem', { name: 'Invitations' }).click();
    await page.getByRole('listitem').filter({ hasText: 'First' }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page
      .getByRole('listitem')
      .filter({ hasText: 'First' })
      .getByRole('button', { name: 'Decline' })
      .click();
    await page.getByLabel('1 pending invitations').waitFor();
    await page.getByRole('button', { name: 'Join' }).click();
    await page.getByRole('button', { name: 'Switch from Second' }).waitFor();
  });

  it('changes roles, and removes a member with a word about the keys', async () => {
    const ada = await dashboard.signedIn('ada-4');
    const bob = await dashboard.signedIn('bob-4');
    const team = await createTeam(ada, 'Acme');
    await addMember(ada, team.id, bob);
    await bob.agent.post(`/me/organizations/${team.id}/keys`).send({ name: 'Laptop' }).expect(201);
    await bob.page.goto(`${team.path}/members`);
    await bob.page.getByText(ada.email).waitFor();
    expect(await bob.page.getByRole('tab').count()).toBe(0);

    await ada.page.goto(`${team.path}/members`);
    expect(await seriousViolations(ada.page)).toEqual([]);
    await ada.page.getByLabel(`Role of ${ada.email}`).selectOption('member');
    await noticed(ada.page, /at least one admin|needs an admin|only admin|last admin/i);
    await ada.page.getByRole('button', { name: `Remove ${bob.email}` }).click();
    await ada.page.getByText('1 key is revoked at once.').waitFor();
    await ada.page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await noticed(ada.page, /^bob-4@example\.com was removed\. 1 key is revoked\.$/);
    await ada.page.getByRole('tab', { name: 'Audit trail' }).click();
    await ada.page.getByText(`Removed ${bob.email}`).waitFor();
    await ada.page.getByRole('button', { name: 'Invite', exact: true }).click();
    await ada.page.getByLabel('E-mail address').fill('new-4@example.com');
    await ada.page.getByRole('dialog').getByRole('button', { name: 'Invite', exact: true }).click();
    await ada.page.getByRole('button', { name: 'Done' }).click();
    await ada.page.getByText('Invited new-4@example.com').waitFor();
    expect(await seriousViolations(ada.page)).toEqual([]);
    await bob.page.reload();
    await bob.page.getByText('This team does not exist, or you are not a member of it.').waitFor();
  });

  it('offers what a role permits, also after the role changed', async () => {
    const ada = await dashboard.signedIn('ada-6');
    const bob = await dashboard.signedIn('bob-6');
    const team = await createTeam(ada, 'Acme');
    await addMember(ada, team.id, bob);
    await bob.page.goto(`${team.path}/projects`);
    await bob.page.getByText('An admin of the team can create the first one.').waitFor();
    expect(await bob.page.getByRole('button', { name: 'New project' }).count()).toBe(0);
    expect(await bob.page.getByRole('link', { name: 'Upstreams' }).count()).toBe(0);

    await ada.page.goto(`${team.path}/members`);
    await ada.page.getByLabel(`Role of ${bob.email}`).selectOption('admin');
    await eventually(async () => expect(await roleOf(ada, team.id, bob)).toBe('admin'));
    await bob.page.reload();
    await bob.page.getByRole('button', { name: 'New project' }).click();
    await bob.page.getByLabel('Name').fill('Launch');
    await ada.page.getByLabel(`Role of ${bob.email}`).selectOption('member');
    await eventually(async () => expect(await roleOf(ada, team.id, bob)).toBe('member'));
    await bob.page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
    await noticed(bob.page, /Ask an admin of the team to do this, or to change your role\./);
  });

  it('resends and cancels invitations, and leaves a team', async () => {
    const ada = await dashboard.signedIn('ada-5');
    const bob = await dashboard.signedIn('bob-5');
    const team = await createTeam(ada, 'Acme');
    await addMember(ada, team.id, bob);
    await ada.agent
      .post(`/me/organizations/${team.id}/invite`)
      .send({ email: 'late@example.com', role: 'member' });
    await ada.page.goto(`${team.path}/members/invitations`);
    await ada.page.getByRole('button', { name: 'Resend' }).click();
    await ada.page.getByLabel('Invitation link', { exact: true }).waitFor();
    await ada.page.getByRole('button', { name: 'Done' }).click();
    await ada.page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await ada.page.getByRole('button', { name: 'Cancel invitation' }).click();
    await ada.page.getByText('No open invitations').waitFor();
    await ada.page.getByText('All', { exact: true }).click();
    await ada.page.getByText('cancelled', { exact: true }).waitFor();
    expect(await seriousViolations(ada.page)).toEqual([]);
    expect(await sidewaysScroll(ada.page)).toBe(0);

    await bob.page.goto(`${team.path}/members`);
    await bob.page.getByRole('button', { name: 'Leave the team' }).click();
    await bob.page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click();
    await bob.page.getByRole('button', { name: 'Switch from Personal' }).waitFor();
  });
});
