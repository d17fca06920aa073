import type { Page, Route } from 'playwright-core';
import { eventually } from '../support/eventually.js';
import { CHROMIUM, describeWith } from '../support/requirements.js';
import { seriousViolations } from './support/accessibility.js';
import { startDashboard } from './support/dashboard.js';
import type { Dashboard, Person } from './support/dashboard.js';
import { recordStatuses } from './support/editor.js';
import { createTestProject } from './support/objects.js';
import type { TestProject } from './support/objects.js';

/** Whether the page keeps Ctrl+S from the browser while the focused element has it. */
const prevents = `!document.activeElement.dispatchEvent(
  new KeyboardEvent('keydown', { key: 's', code: 'KeyS', ctrlKey: true, bubbles: true, cancelable: true }))`;

describeWith(CHROMIUM, 'the document page', () => {
  let dashboard: Dashboard;
  let person: Person;
  let page: Page;
  let project: TestProject;
  let users = 0;
  beforeAll(async () => {
    dashboard = await startDashboard();
  });
  afterAll(() => dashboard.close());
  beforeEach(async () => {
    person = await dashboard.signedIn(`writer-${++users}`);
    page = person.page;
    project = await createTestProject(person.agent, 'Notes');
  });
  afterEach(async () => {
    expect(person.problems).toEqual([]);
    await person.context.close();
  });

  const editor = () => page.getByLabel('Markdown');
  const status = (name: string) => page.locator(`.save-status[data-status=${name}]`).waitFor();
  const open = async (document: number) => {
    await page.goto(dashboard.url + project.pathOf(document));
    await editor().waitFor();
  };

  const changeSlug = async (slug: string) => {
    await page.getByRole('button', { name: 'Document actions' }).click();
    await page.getByRole('menuitem', { name: 'Change slug' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Slug').fill(slug);
    await dialog.getByRole('button', { name: 'Change slug' }).click();
  };

  it('saves by itself and on Ctrl+S', async () => {
    const id = await project.write('a', 'A', 'one');
    await open(id);
    const statuses = await recordStatuses(page);
    await editor().press('Control+End');
    await page.keyboard.type(' two');
    await eventually(async () => expect((await project.read(id)).content).toBe('one two'));
    await status('saved');
    expect((await statuses())[0]).toBe('unsaved');
    await page.keyboard.type(' three');
    await page.keyboard.press('Control+S');
    await status('saved');
    expect((await project.read(id)).content).toBe('one two three');
  });

  it('keeps text over a reload while the service is away, and saves it when the service is back', async () => {
    const id = await project.write('a', 'A', 'one');
    await open(id);
    await page.route('**/documents/*', (route) =>
      route.request().method() === 'PUT' ? route.abort() : route.continue(),
    );
    await editor().press('Control+End');
    await page.keyboard.type(' two');
    await status('unreachable');
    await page.reload();
    await page.getByText('one two').first().waitFor();
    await status('unreachable');
    expect((await project.read(id)).content).toBe('one');
    await page.unroute('**/documents/*');
    await status('saved');
    expect((await project.read(id)).content).toBe('one two');
  });

  it('keeps text while the session is expired, and saves it after the sign-in', async () => {
    const id = await project.write('a', 'A', 'one');
    await open(id);
    await page.route('**/me/**', (route) =>
      route.continue({ headers: { ...route.request().headers(), authorization: 'Bearer expired' } }),
    );
    await editor().press('Control+End');
    await page.keyboard.type(' two');
    await page.getByText('Your session has expired').waitFor();
    await page.unroute('**/me/**');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await status('saved');
    expect((await project.read(id)).content).toBe('one two');
  });

  it('merges the texts of two people', async () => {
    const id = await project.write('a', 'A', 'first\n\nsecond\n');
    await open(id);
    const path = `/me/organizations/${project.owner}/projects/${project.project}/documents/${id}`;
    await person.agent.put(path).send({ content: 'first of another window\n\nsecond\n' }).expect(200);
    await editor().press('Control+End');
    await page.keyboard.type('third');
    await page.getByText('Someone else changed this document').waitFor();
    await status('conflict');
    await page.getByRole('button', { name: 'Take over the saved version of this part' }).first().click();
    await page.getByRole('button', { name: 'Save the right side' }).click();
    await status('saved');
    expect((await project.read(id)).content).toBe('first of another window\n\nsecond\nthird');
  });

  it('merges with the keyboard, and takes a step of the merge back', async () => {
    const id = await project.write('a', 'A', 'first\n\nsecond\n');
    await open(id);
    const path = `/me/organizations/${project.owner}/projects/${project.project}/documents/${id}`;
    await person.agent.put(path).send({ content: 'theirs\n\nsecond\n' }).expect(200);
    await editor().press('Control+End');
    await page.keyboard.type('third');
    await status('conflict');
    expect(await seriousViolations(page)).toEqual([]);
    const arrow = page.getByRole('button', { name: 'Take over the saved version of this part' });
    const own = page.getByLabel('Your version');
    await arrow.first().press('Enter');
    await own.getByText('theirs').waitFor();
    await page.keyboard.press('Control+Z');
    await own.getByText('first').waitFor();
    await arrow.first().press('Enter');
    await own.getByText('theirs').waitFor();
    await page.getByRole('button', { name: 'Save the right side' }).press('Enter');
    await status('saved');
    expect((await project.read(id)).content).toBe('theirs\n\nsecond\nthird');
  });

  it('requests a confirmation before a draft replaces a newer version', async () => {
    const id = await project.write('a', 'A', 'one');
    await open(id);
    await page.route('**/documents/*', (route) =>
      route.request().method() === 'PUT' ? route.abort() : route.continue(),
    );
    await editor().press('Control+End');
    await page.keyboard.type(' mine');
    await status('unreachable');
    await page.goto(`${dashboard.url}/healthz`); // closes the document
    await page.unroute('**/documents/*');
    await person.agent
      .put(`/me/organizations/${project.owner}/projects/${project.project}/documents/${id}`)
      .send({ content: 'theirs' })
      .expect(200);
    await page.goto(dashboard.url + project.pathOf(id));
    await page.getByText('Someone else changed this document').waitFor();
    await page.getByRole('button', { name: 'Use the saved version' }).click();
    await status('saved');
    expect((await project.read(id)).content).toBe('theirs');
  });

  it('completes wikilinks, follows them and creates missing targets', async () => {
    const id = await project.write('a', 'A', '');
    await project.write('setup-guide', 'Getting started', '# Setup');
    await open(id);
    await page.getByText('No document links here.').waitFor(); // the documents are loaded
    await editor().click();
    await page.keyboard.type('[[gett');
    await page.locator('.cm-tooltip-autocomplete').getByText('Getting started').click();
    await page.keyboard.type(' and [[New topic|more');
    await status('saved');
    expect((await project.read(id)).content).toBe('[[setup-guide]] and [[New topic|more]]');

    await page.getByRole('button', { name: 'more' }).click();
    expect(await page.getByRole('dialog').getByLabel('Title').inputValue()).toBe('New topic');
    await page.getByRole('button', { name: 'Create document' }).click();
    await page.getByText('new-topic').first().waitFor();
    await page.getByRole('link', { name: 'A', exact: true }).click(); // the backlink
    await page.getByRole('button', { name: 'setup-guide' }).click();
    await page.getByRole('heading', { name: 'Setup' }).waitFor();
  });

  it('shows outline, backlinks and broken links', async () => {
    const id = await project.write('a', 'A', '# One\n\n## Two\n\n[[gone]]');
    await project.write('b', 'Linking', '[[a]]');
    await open(id);
    const panel = page.getByRole('complementary', { name: 'Outline and links' });
    await panel.getByText('Linking').waitFor();
    expect(await panel.getByRole('button').allTextContents()).toEqual(['One', 'Two', 'gone']);
  });

  it('lists the broken links of the project', async () => {
    await project.write('a', 'Home', '[[b]] [[nowhere]]');
    await project.write('b', 'Other', '[[Home]]');
    await page.goto(dashboard.url + project.path);
    await page.getByRole('button', { name: 'Import, export and links' }).click();
    await page.getByRole('menuitem', { name: 'Find broken links' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('link', { name: 'Home' }).waitFor();
    expect(await dialog.getByRole('listitem').allTextContents()).toEqual(['Home links to [[nowhere]]']);
    await dialog.getByRole('link', { name: 'Home' }).click();
    await editor().waitFor();
  });

  it('lists and updates links when the slug changes', async () => {
    const id = await project.write('old', 'Target', '');
    const linking = await project.write('b', 'Linking', '[[old|x]] `[[old]]`');
    await project.write('c', 'Unrelated', '[[Target]]');
    await open(id);
    await page.getByRole('button', { name: 'Document actions' }).click();
    await page.getByRole('menuitem', { name: 'Change slug' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Slug').fill('new');
    await dialog.getByText('Update the link in this document').waitFor();
    expect(await dialog.getByRole('listitem').allTextContents()).toEqual(['Linking']);
    await dialog.getByRole('button', { name: 'Change slug' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await project.read(linking)).toMatchObject({ content: '[[new|x]] `[[old]]`' });
    expect(await project.read(id)).toMatchObject({ slug: 'new' });
  });

  it('finds links to a document whose slug changed a moment ago, and links that others just added', async () => {
    const target = await project.write('c', 'Target', '');
    const id = await project.write('a', 'A', '[[c]]');
    await open(id);
    await page.getByText('No document links here.').waitFor(); // the contents are loaded
    await changeSlug('a2');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByText('a2', { exact: true }).waitFor();
    const added = await project.write('b', 'Added', '[[c]]');
    await page.getByRole('button', { name: 'c', exact: true }).click();
    await page.waitForURL(dashboard.url + project.pathOf(target));
    await page.getByRole('button', { name: 'Document actions' }).click();
    await page.getByRole('menuitem', { name: 'Change slug' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Slug').fill('c2');
    await dialog.getByText('Update links in 2 documents').waitFor();
    expect(await dialog.getByRole('listitem').allTextContents()).toEqual(['A', 'Added']);
    await dialog.getByRole('button', { name: 'Change slug' }).click();
    await dialog.waitFor({ state: 'detached' });
    for (const linking of [id, added]) expect((await project.read(linking)).content).toBe('[[c2]]');
  });

  it('reports links that could not follow a slug, and updates them on request', async () => {
    const id = await project.write('old', 'Target', '');
    const first = await project.write('b', 'First', '[[old]]');
    const second = await project.write('d', 'Second', '[[old]]');
    await open(id);
    await page.route(`**/documents/${second}`, (route) => route.abort());
    await changeSlug('new');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Second: The service cannot be reached').waitFor();
    expect(await dialog.getByRole('listitem').count()).toBe(1);
    await page.getByText('new', { exact: true }).waitFor();
    expect((await project.read(first)).content).toBe('[[new]]');
    await page.unroute(`**/documents/${second}`);
    await dialog.getByRole('button', { name: 'Update the links' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect((await project.read(second)).content).toBe('[[new]]');
  });

  it('shows no link as broken before the list is there, and why links are not known', async () => {
    const id = await project.write('a', 'A', '[[b]]');
    await project.write('b', 'B', '[[a]]');
    let release: () => void;
    const isReleased = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/documents', async (route) => {
      await isReleased;
      await route.continue();
    });
    const fail = (route: Route) =>
      route.fulfill({ status: 403, json: { error: { message: 'not permitted' } } });
    await page.route('**/export', fail);
    await open(id);
    await page.getByRole('button', { name: 'b', exact: true }).waitFor();
    const panel = page.getByRole('complementary', { name: 'Outline and links' });
    await panel.getByText('Not permitted').waitFor();
    expect(await page.locator('[data-missing]').count()).toBe(0);
    release!();
    await page.unroute('**/export', fail);
    await panel.getByRole('button', { name: 'Try again' }).click();
    await panel.getByRole('link', { name: 'B' }).waitFor();
    expect(await page.locator('[data-missing]').count()).toBe(0);
  });

  it('saves a typed title by itself, and on Ctrl+S', async () => {
    const id = await project.write('a', 'A', 'one');
    await open(id);
    const statuses = await recordStatuses(page);
    await page.getByLabel('Title').fill('By itself');
    const expected = { title: 'By itself', content: 'one' };
    await eventually(async () => expect(await project.read(id)).toMatchObject(expected));
    await status('saved');
    expect((await statuses())[0]).toBe('unsaved');
    await page.getByLabel('Title').fill('By key');
    await page.keyboard.press('Control+S');
    await eventually(async () => expect(await project.read(id)).toMatchObject({ title: 'By key' }));
    expect(await page.evaluate(prevents)).toBe(true);
  });

  it('renames in place while the text is being saved', async () => {
    const id = await project.write('a', 'A', 'one');
    await open(id);
    await editor().press('Control+End');
    await page.keyboard.type(' two');
    await page.getByLabel('Title').fill('Renamed');
    await page.getByLabel('Title').press('Enter');
    await status('saved');
    await eventually(async () => {
      expect(await project.read(id)).toMatchObject({ title: 'Renamed', content: 'one two' });
    });
  });
});
