import { eventually } from '../support/eventually.js';
import { CHROMIUM, describeWith } from '../support/requirements.js';
import { startDashboard } from './support/dashboard.js';
import type { Dashboard } from './support/dashboard.js';
import { createTestProject } from './support/objects.js';

describeWith(CHROMIUM, 'projects and document lists', () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard();
  });
  afterAll(() => dashboard.close());

  it('creates, renames, filters and deletes projects', async () => {
    const { page } = await dashboard.signedIn('projects');
    await page.goto(dashboard.url);
    await page.getByRole('button', { name: 'New project' }).click();
    await page.getByRole('button', { name: 'Create project' }).click();
    await page.getByText('Give the project a name.').waitFor();
    await page.getByLabel('Name').fill('Handbook');
    await page.getByRole('button', { name: 'Create project' }).click();
    await page.getByRole('heading', { name: 'Handbook' }).waitFor();

    await page.getByRole('button', { name: 'Actions for Handbook' }).click();
    await page.getByRole('menuitem', { name: 'Edit name and description' }).click();
    await page.getByLabel('Name').fill('Team handbook');
    await page.getByLabel('Description').fill('How we work');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Team handbook' }).waitFor();

    await page.getByRole('navigation', { name: 'Path' }).getByRole('link', { name: 'Projects' }).click();
    await page.getByLabel('Filter projects').fill('HOW WE');
    await page.getByRole('link', { name: 'Team handbook' }).waitFor();
    await page.waitForURL(/q=HOW/);
    await page.getByLabel('Filter projects').fill('nothing');
    await page.getByText('No project matches the filter.').waitFor();
    await page.waitForURL(/q=nothing/);
    await page.getByRole('button', { name: 'Clear' }).click();

    await page.getByRole('button', { name: 'Actions for Team handbook' }).click();
    await page.getByRole('menuitem', { name: 'Delete project' }).click();
    const confirm = page.getByRole('dialog').getByRole('button', { name: 'Delete project' });
    expect(await confirm.isDisabled()).toBe(true);
    await page.getByLabel('Type “Team handbook” to confirm').fill('Team handbook');
    await confirm.click();
    await page.getByRole('heading', { name: 'No projects yet' }).waitFor();
  });

  it('explains a taken name at the field', async () => {
    const { page, agent } = await dashboard.signedIn('taken');
    await createTestProject(agent, 'Handbook');
    await page.goto(dashboard.url);
    await page.getByRole('button', { name: 'New project' }).click();
    await page.getByLabel('Name').fill('Handbook');
    await page.getByRole('button', { name: 'Create project' }).click();
    await page.locator('input[data-path=name][aria-invalid=true]').waitFor();
  });

  it('sorts, filters, selects and deletes documents', async () => {
    const { page, agent } = await dashboard.signedIn('documents');
    const project = await createTestProject(agent, 'Notes');
    for (const [slug, title] of [
      ['z', 'Alpha'],
      ['y', 'Beta 10'],
      ['x', 'Beta 9'],
    ] as const)
      await project.write(slug, title, title);
    await page.goto(dashboard.url + project.path);
    const titles = () => page.locator('.document-link').allTextContents();
    await page.getByRole('link', { name: 'Alpha' }).waitFor();
    expect(await titles()).toEqual(['Alpha', 'Beta 9', 'Beta 10']);
    await page.getByRole('button', { name: 'Slug' }).click();
    await page.waitForURL(/sort=slug/);
    await eventually(async () => expect(await titles()).toEqual(['Beta 9', 'Beta 10', 'Alpha']));

    await page.getByLabel('Filter documents').fill('beta');
    await page.getByText('2 of 3 documents').waitFor();
    await page.getByLabel('Select all').check();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('button', { name: 'Delete 2 documents' }).click();
    await page.getByText('No document matches the filter').waitFor();
    await page.getByRole('button', { name: 'Clear', exact: true }).click();
    await page.getByText('1 document', { exact: true }).waitFor();
  });

  it('creates a document with a slug from its title', async () => {
    const { page, agent } = await dashboard.signedIn('create');
    const project = await createTestProject(agent, 'Notes');
    await project.write('uber-uns', 'Über uns', '');
    await page.goto(dashboard.url + project.path);
    await page.getByRole('link', { name: 'Über uns' }).waitFor(); // the slugs that are taken are known
    await page.getByRole('button', { name: 'New document' }).click();
    await page.getByLabel('Title').fill('Über uns!');
    expect(await page.getByLabel('Slug').inputValue()).toBe('uber-uns-2');
    await page.getByRole('button', { name: 'Create document' }).click();
    await page.getByLabel('Markdown').waitFor();
  });

  it('offers no changes to members of a team', async () => {
    const ada = await dashboard.signedIn('admin-of-docs');
    const { body: team } = await ada.agent
      .post('/me/organizations')
      .send({ name: 'Acme', slug: 'acme-docs' });
    const { body: invitation } = await ada.agent
      .post(`/me/organizations/${team.id}/invite`)
      .send({ email: 'member-of-docs@example.com', role: 'member' });
    const project = await createTestProject(ada.agent, 'Handbook', team.id);
    const document = await project.write('home', 'Home', '# Welcome');
    const bob = await dashboard.signedIn('member-of-docs');
    await bob.agent.post('/me/invitations/accept').send({ token: invitation.token }).expect(200);
    await bob.page.goto(dashboard.url + project.path);
    await bob.page.getByRole('link', { name: 'Home' }).click();
    await bob.page.getByRole('heading', { name: 'Welcome' }).waitFor();
    expect(new URL(bob.page.url()).pathname).toBe(project.pathOf(document));
    expect(await bob.page.getByLabel('Title').count()).toBe(0);
    await bob.page.goto(dashboard.url + project.path);
    await bob.page.getByRole('link', { name: 'Home' }).waitFor();
    expect(await bob.page.getByRole('button', { name: /New|Actions/ }).count()).toBe(0);
  });
});
