import type { Page, Route } from 'playwright-core';
import { eventually } from '../support/eventually.js';
import { CHROMIUM, describeWith } from '../support/requirements.js';
import { seriousViolations } from './support/accessibility.js';
import type { Dashboard, Person } from './support/dashboard.js';
import { useDocument } from './support/document.js';
import { append, cutSaving, editorOf, openEditor, saveStatus } from './support/editor.js';
import type { TestProject } from './support/objects.js';

/** Ways in which a browser does not store drafts. */
const BROKEN_STORAGE = {
  unavailable: "indexedDB.open = () => { throw new DOMException('denied', 'SecurityError'); };",
  full: `const put = IDBObjectStore.prototype.put;
    IDBObjectStore.prototype.put = function (...values) {
      const request = put.apply(this, values);
      this.transaction.abort();
      return request;
    };`,
};

describeWith(CHROMIUM, 'unsaved text', () => {
  let dashboard: Dashboard;
  let person: Person;
  let page: Page;
  let project: TestProject;
  let id: number;
  useDocument('safe', (own) => ({ dashboard, person, page, project, id } = own));

  const url = () => dashboard.url + project.pathOf(id);
  const base = () => `/me/organizations/${project.owner}/projects`;
  const saved = () => project.read(id).then(({ content }) => content);

  it('survives an expired session and a reload before the next sign-in', async () => {
    await openEditor(page, url());
    const expire = (route: Route) => route.continue({ headers: { authorization: 'Bearer expired' } });
    await page.route('**/me/**', expire);
    await append(page, ' two');
    await page.getByText('Your session has expired').waitFor();
    await page.reload();
    await page.getByText('Your session has expired').waitFor();
    await page.unroute('**/me/**', expire);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await saveStatus(page, 'saved');
    expect(await saved()).toBe('one two');
  });

  it('leaves the text of another person alone if it was undone during its save', async () => {
    await openEditor(page, url());
    let release: () => void;
    const isReleased = new Promise<void>((resolve) => (release = resolve));
    const saving = page.waitForRequest((request) => request.method() === 'PUT');
    await page.route('**/documents/*', async (route) => {
      if (route.request().method() === 'PUT') await isReleased;
      await route.continue();
    });
    await append(page, '!');
    await saving;
    await person.agent
      .put(`${base()}/${project.project}/documents/${id}`)
      .send({ content: 'theirs' })
      .expect(200);
    await page.keyboard.press('Control+Z');
    release!();
    await editorOf(page).getByText('theirs').waitFor();
    await append(page, ' and mine');
    await page.keyboard.press('Control+S');
    await eventually(async () => expect(await saved()).toBe('theirs and mine'));
    await saveStatus(page, 'saved');
  });

  it('is not replaced by its draft while the page reloads', async () => {
    await openEditor(page, url());
    const expire = (route: Route) => route.continue({ headers: { authorization: 'Bearer expired' } });
    await page.route('**/me/**', expire);
    await append(page, ' two');
    await page.getByText('Your session has expired').waitFor();
    await page.unroute('**/me/**', expire);
    let open: () => void;
    const isOpen = new Promise<void>((resolve) => (open = resolve));
    const asked = page.waitForRequest(
      (request) => request.url().endsWith(`/documents/${id}`) && request.method() === 'GET',
    );
    await page.route('**/documents/*', async (route) => {
      await isOpen;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Sign in' }).click();
    await asked;
    await append(page, ' three');
    open!();
    await saveStatus(page, 'saved');
    expect(await editorOf(page).textContent()).toBe('one two three');
    expect(await saved()).toBe('one two three');
  });

  it('includes the title, which survives an outage and a reload', async () => {
    await openEditor(page, url());
    const allow = await cutSaving(page);
    await page.getByLabel('Title').fill('Better plan');
    await saveStatus(page, 'unreachable');
    await page.getByLabel('Title').blur();
    expect(await page.getByLabel('Title').inputValue()).toBe('Better plan');
    await page.reload();
    await editorOf(page).waitFor();
    expect(await page.getByLabel('Title').inputValue()).toBe('Better plan');
    await allow();
    await saveStatus(page, 'saved');
    expect(await project.read(id)).toMatchObject({ title: 'Better plan', content: 'one' });
  });

  it('includes the title, which is saved on the next visit of another page', async () => {
    await openEditor(page, url());
    const allow = await cutSaving(page);
    await page.getByLabel('Title').fill('Better plan');
    await saveStatus(page, 'unreachable');
    await page.getByRole('link', { name: 'Keys' }).click();
    await page.getByRole('heading', { name: 'Keys', exact: true }).waitFor();
    await allow();
    await eventually(async () => expect(await project.read(id)).toMatchObject({ title: 'Better plan' }));
    expect(await saved()).toBe('one');
  });

  describe.each(Object.entries(BROKEN_STORAGE))('%s browser storage', (_, script) => {
    beforeEach(() => page.addInitScript({ content: script }));

    it('is saved to the service, and leaving the page before that requests a confirmation', async () => {
      await openEditor(page, url());
      await append(page, ' two');
      await page.getByText('This browser keeps no drafts').waitFor();
      await saveStatus(page, 'saved');
      expect(await saved()).toBe('one two');
      await editorOf(page).blur(); // axe waits for the animation of the cursor
      expect(await seriousViolations(page)).toEqual([]);

      const allow = await cutSaving(page);
      await append(page, ' three');
      await saveStatus(page, 'unreachable');
      await page.getByText('Offline: not saved').waitFor();
      const asked = page.waitForEvent('dialog');
      await page.close({ runBeforeUnload: true });
      const dialog = await asked;
      expect(dialog.type()).toBe('beforeunload');
      await dialog.dismiss();
      await allow();
      await saveStatus(page, 'saved');
      expect(await saved()).toBe('one two three');
    });

    it('is saved after the person left the document for another page', async () => {
      await openEditor(page, url());
      const allow = await cutSaving(page);
      await append(page, ' two');
      await page.getByRole('link', { name: 'Keys' }).click();
      await page.getByRole('heading', { name: 'Keys', exact: true }).waitFor();
      await allow();
      await eventually(async () => expect(await saved()).toBe('one two'));
    });
  });

  it('is saved as a new document if its own was deleted', async () => {
    await openEditor(page, url());
    await person.agent.delete(`${base()}/${project.project}/documents/${id}`).expect(204);
    await append(page, ' two');
    await page.getByText('This document does not exist any more').waitFor();
    await page
      .getByRole('alert')
      .getByText(/^Request /)
      .waitFor();
    await editorOf(page).blur(); // axe waits for the animation of the cursor
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save as a new document' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Project').click();
    await page.getByRole('option', { name: 'Notes' }).click();
    await dialog.getByRole('button', { name: 'Save document' }).click();
    await page.waitForURL((address) => !address.pathname.endsWith(`/${id}`));
    await saveStatus(page, 'saved');
    const copy = Number(new URL(page.url()).pathname.split('/').pop());
    expect(await project.read(copy)).toMatchObject({ title: 'Plan', slug: 'a', content: 'one two' });
  });

  it('can be downloaded after its project was deleted, also on the next visit, until it is discarded', async () => {
    await openEditor(page, url());
    await person.agent.delete(`${base()}/${project.project}`).expect(204);
    await append(page, ' two');
    await page.getByText('This document does not exist any more').waitFor();
    await page.goto(dashboard.url);
    const notice = page.getByRole('region', { name: 'Texts that are not saved' });
    await notice.getByText(/^Request /).waitFor();
    const download = page.waitForEvent('download');
    await notice.getByRole('button', { name: 'Download' }).click();
    expect((await download).suggestedFilename()).toBe('a.md');
    expect(await seriousViolations(page)).toEqual([]);
    await notice.getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Discard the text' }).click();
    await notice.waitFor({ state: 'detached' });
  });

  it('does not replace the text of another window', async () => {
    const allow = await cutSaving(person.context);
    const windows = [page, await person.context.newPage()];
    for (const window of windows) await openEditor(window, url());
    await append(windows[0]!, ' first');
    await append(windows[1]!, ' second');
    for (const window of windows) await saveStatus(window, 'unreachable');
    // A window that is closed in order would save once more, past the route of the test.
    for (const window of windows) {
      await window.goto('chrome://crash').catch(() => undefined);
      await window.close();
    }
    const reopened = await person.context.newPage();
    await openEditor(reopened, url());
    expect(await editorOf(reopened).textContent()).toBe('one second');
    await allow();
    await saveStatus(reopened, 'conflict');
    expect(await saved()).toBe('one second');
    expect(await reopened.getByLabel('Your version').textContent()).toBe('one first');
    await reopened.getByRole('button', { name: 'Save the right side' }).click();
    await saveStatus(reopened, 'saved');
    expect(await saved()).toBe('one first');
  });
});
