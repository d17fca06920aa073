import { CHROMIUM, describeWith } from '../support/requirements.js';
import { seriousViolations } from './support/accessibility.js';
import { startDashboard } from './support/dashboard.js';
import type { Dashboard } from './support/dashboard.js';
import { createTestProject } from './support/objects.js';

describeWith(CHROMIUM, 'the navigation of the dashboard', () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard();
  });
  afterAll(() => dashboard.close());

  it('creates a team, switches to it and back, and remembers it', async () => {
    const { page } = await dashboard.signedIn('teams');
    await page.goto(dashboard.url);
    await page.getByRole('button', { name: 'Switch from Personal' }).click();
    await page.getByRole('menuitem', { name: 'Create a team' }).click();
    await page.getByLabel('Name').fill('Ada & Söhne');
    expect(await page.getByLabel('Slug').inputValue()).toBe('ada-sohne');
    await page.getByRole('button', { name: 'Create team' }).click();
    await page.getByRole('button', { name: 'Switch from Ada & Söhne' }).waitFor();
    await page.goto(dashboard.url);
    await page.getByRole('button', { name: 'Switch from Ada & Söhne' }).click();
    await page.getByRole('menuitem', { name: 'Personal' }).click();
    await page.getByRole('button', { name: 'Switch from Personal' }).waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Switch from Ada & Söhne' }).waitFor();
  });

  it('explains a taken slug of a team at the field', async () => {
    const { page, agent } = await dashboard.signedIn('names');
    await agent.post('/me/organizations').send({ name: 'Other', slug: 'taken' }).expect(201);
    await page.goto(dashboard.url);
    await page.getByRole('button', { name: 'Switch from Personal' }).click();
    await page.getByRole('menuitem', { name: 'Create a team' }).click();
    await page.getByLabel('Name').fill('Taken');
    await page.getByRole('button', { name: 'Create team' }).click();
    await page.locator('input[data-path=slug][aria-invalid=true]').waitFor();
  });

  it('opens documents by title, and by a word of their content', async () => {
    const { page, agent } = await dashboard.signedIn('palette');
    const project = await createTestProject(agent, 'Handbook');
    await project.write('first', 'First steps', 'nothing special');
    await project.write('alarm', 'On call', 'Who carries the pager at night?');
    await page.goto(dashboard.url + project.path);
    await page.getByRole('link', { name: 'On call' }).waitFor();
    await page.keyboard.press('Control+K');
    await page.getByRole('button', { name: 'Handbook', exact: true }).waitFor(); // what it searches is loaded
    await page.getByPlaceholder('Open a project or document').fill('first st');
    await page.locator('[data-selected]', { hasText: 'First steps' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByLabel('Markdown').waitFor();
    await page.keyboard.press('Control+K');
    await page.getByPlaceholder('Open a project or document').fill('pager');
    await page.getByText('Who carries the pager at night?').click();
    await page.waitForURL(/documents/);
    await page.getByRole('heading', { name: 'On call' }).waitFor();
  });

  it('searches texts that were saved elsewhere since the palette was open', async () => {
    const { page, agent } = await dashboard.signedIn('palette-fresh');
    const project = await createTestProject(agent, 'Handbook');
    await project.write('first', 'First steps', 'about lighthouses');
    await page.goto(dashboard.url + project.path);
    await page.getByRole('link', { name: 'First steps' }).waitFor();
    await page.keyboard.press('Control+K');
    const search = page.getByPlaceholder('Open a project or document');
    await search.fill('lighthouses');
    await page.getByText('about lighthouses').waitFor();
    await page.keyboard.press('ArrowDown');
    await page.locator('[data-selected]', { hasText: 'about lighthouses' }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await search.waitFor({ state: 'detached' });
    await project.write('second', 'Second steps', 'about submarines');
    await page.keyboard.press('Control+K');
    await search.fill('submarines');
    await page.getByText('about submarines').waitFor();
  });

  it('offers the documents of all projects', async () => {
    const { page, agent } = await dashboard.signedIn('palette-all');
    const projects = [];
    for (let number = 1; number <= 32; number++)
      projects.push(await createTestProject(agent, `Project ${String(number).padStart(2, '0')}`));
    for (const [index, project] of projects.entries())
      await project.write('page', `Page ${index + 1} of the team`, '');
    await page.goto(dashboard.url + projects[0]!.path);
    await page.getByRole('link', { name: 'Page 1 of the team' }).waitFor();
    await page.keyboard.press('Control+K');
    await page.getByPlaceholder('Open a project or document').fill('page 32 of');
    await page.getByRole('button', { name: 'Page 32 of the team' }).waitFor();
  });

  it('shows shortcuts on ?, and follows a chosen theme', async () => {
    const { page } = await dashboard.signedIn('keys-and-theme');
    await page.goto(dashboard.url);
    await page.getByText('No projects yet').waitFor(); // the page listens to keys
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'light' });
    await page.keyboard.press('Escape');
    const scheme = () => page.locator('html').getAttribute('data-mantine-color-scheme');
    await page.locator('html[data-mantine-color-scheme=light]').waitFor();
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.locator('html[data-mantine-color-scheme=dark]').waitFor();
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByText('Light', { exact: true }).click();
    await page.locator('html[data-mantine-color-scheme=light]').waitFor();
    await page.reload();
    await page.getByRole('button', { name: /^Account/ }).waitFor();
    expect(await scheme()).toBe('light');
  });

  it('explains unknown addresses, and failures with their request id', async () => {
    const { page, agent } = await dashboard.signedIn('errors');
    const project = await createTestProject(agent, 'Handbook');
    await page.goto(`${dashboard.url}/no/such/page`);
    await page.getByRole('heading', { name: 'This page does not exist' }).waitFor();
    await page.goto(`${dashboard.url}/o/999999/projects`);
    await page.getByText('This team does not exist, or you are not a member of it.').waitFor();
    await page.goto(`${dashboard.url}${project.path.replace(/\d+$/, '999999')}`);
    await page.getByText('This project does not exist').waitFor();
    await page.goto(`${dashboard.url}${project.pathOf(999_999)}`);
    await page.getByText(/^Request/).waitFor();
    await page.route('**/me/organizations', (route) =>
      route.fulfill({
        status: 500,
        headers: { 'X-Request-Id': 'r-500' },
        json: { error: { message: 'internal error' } },
      }),
    );
    await page.goto(dashboard.url);
    await page.getByText('r-500').first().waitFor();
  });
});
