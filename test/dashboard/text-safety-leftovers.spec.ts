import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually.js';
import { CHROMIUM, describeWith } from '../support/requirements.js';
import { seriousViolations } from './support/accessibility.js';
import type { Dashboard, Person } from './support/dashboard.js';
import { useDocument } from './support/document.js';
import { append, cutSaving, openEditor, saveStatus } from './support/editor.js';
import type { TestProject } from './support/objects.js';

describeWith(CHROMIUM, 'drafts of documents that are not open', () => {
  let dashboard: Dashboard;
  let person: Person;
  let page: Page;
  let project: TestProject;
  let id: number;
  useDocument('left', (own) => ({ dashboard, person, page, project, id } = own));

  const notice = () => page.getByRole('region', { name: 'Texts that are not saved' });
  const saved = () => project.read(id).then(({ content }) => content);
  const changeElsewhere = (content: string) =>
    person.agent
      .put(`/me/organizations/${project.owner}/projects/${project.project}/documents/${id}`)
      .send({ content })
      .expect(200);
  /** Writes while the service does not respond. */
  const leaveDraft = async () => {
    await openEditor(page, dashboard.url + project.pathOf(id));
    const allow = await cutSaving(page);
    await append(page, ' two');
    await saveStatus(page, 'unreachable');
    return allow;
  };

  it('are saved when the service returns', async () => {
    const allow = await leaveDraft();
    await page.getByRole('link', { name: 'Keys' }).click();
    await page.getByRole('heading', { name: 'Keys', exact: true }).waitFor();
    expect(await saved()).toBe('one');
    await allow();
    await eventually(async () => expect(await saved()).toBe('one two'));
    expect(await notice().count()).toBe(0);
  });

  it('are saved on the next visit', async () => {
    const allow = await leaveDraft();
    await page.goto(`${dashboard.url}/healthz`); // closes the document
    await allow();
    await page.goto(dashboard.url);
    await eventually(async () => expect(await saved()).toBe('one two'));
  });

  it('are listed on a conflict, in all windows, and lead to the merge', async () => {
    const allow = await leaveDraft();
    await page.goto(`${dashboard.url}/healthz`);
    await allow();
    await changeElsewhere('theirs');
    const other = await person.context.newPage();
    await other.goto(dashboard.url);
    const otherNotice = other.getByRole('region', { name: 'Texts that are not saved' });
    await otherNotice.getByText('was changed elsewhere').waitFor();
    await page.goto(dashboard.url);
    expect(await saved()).toBe('theirs');

    await notice().getByRole('link', { name: 'Plan' }).click();
    await saveStatus(page, 'conflict');
    await notice().waitFor({ state: 'detached' });
    await otherNotice.waitFor({ state: 'detached' });
    await page.reload();
    await saveStatus(page, 'conflict');
    expect(await page.getByLabel('Your version').textContent()).toBe('one two');
    await page.getByRole('button', { name: 'Save the right side' }).click();
    await saveStatus(page, 'saved');
    expect(await saved()).toBe('one two');
  });

  it('are listed again when the person leaves the merge', async () => {
    const allow = await leaveDraft();
    await changeElsewhere('theirs');
    await allow();
    await saveStatus(page, 'conflict');
    await page.getByRole('link', { name: 'Keys' }).click();
    await notice().getByRole('link', { name: 'Plan' }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    expect(await saved()).toBe('theirs');
    await notice().getByRole('link', { name: 'Plan' }).click();
    await page.getByRole('button', { name: 'Use the saved version' }).click();
    await saveStatus(page, 'saved');
    await page.getByRole('link', { name: 'Keys' }).click();
    await page.getByRole('heading', { name: 'Keys', exact: true }).waitFor();
    expect(await notice().count()).toBe(0);
  });

  it('stay with their person', async () => {
    await leaveDraft();
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.unrouteAll();
    await page.getByLabel('E-mail address').fill(`other-person@example.com`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Projects', exact: true }).waitFor();
    expect(await saved()).toBe('one');
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByLabel('E-mail address').fill(person.email);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await eventually(async () => expect(await saved()).toBe('one two'));
  });
});
