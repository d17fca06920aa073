import { readFile } from 'node:fs/promises';
import { strToU8, unzipSync, zipSync } from 'fflate';
import { CHROMIUM, describeWith } from '../support/requirements.js';
import { seriousViolations } from './support/accessibility.js';
import { startDashboard } from './support/dashboard.js';
import type { Dashboard, Person } from './support/dashboard.js';
import { createTestProject } from './support/objects.js';
import type { TestProject } from './support/objects.js';

interface Stored {
  readonly id: number;
  readonly slug: string;
  readonly title: string;
}

describeWith(CHROMIUM, 'import and export', () => {
  let dashboard: Dashboard;
  let users = 0;
  beforeAll(async () => {
    dashboard = await startDashboard();
  });
  afterAll(() => dashboard.close());

  async function openProject(): Promise<{
    person: Person;
    project: TestProject;
    list: () => Promise<Stored[]>;
  }> {
    const person = await dashboard.signedIn(`user-${++users}`);
    const project = await createTestProject(person.agent, 'Vault');
    await person.page.goto(dashboard.url + project.path);
    await person.page.getByText('No documents yet').waitFor();
    const path = `/me/organizations/${project.owner}/projects/${project.project}/documents`;
    return { person, project, list: async () => (await person.agent.get(path).expect(200)).body.documents };
  }

  const archive = (files: Record<string, string>) => ({
    name: 'vault.zip',
    mimeType: 'application/zip',
    buffer: Buffer.from(
      zipSync(Object.fromEntries(Object.entries(files).map(([name, text]) => [name, strToU8(text)]))),
    ),
  });

  async function choose({ page }: Person, label: string, files: ReturnType<typeof archive>[]): Promise<void> {
    await page.getByRole('button', { name: 'Import, export and links' }).click();
    await page.getByRole('menuitem', { name: 'Import' }).click();
    await page.getByRole('button', { name: 'Choose files' }).waitFor();
    await page.locator(`input[aria-label="${label}"]`).setInputFiles(files);
  }

  it('imports a vault from an archive, with its links', async () => {
    const { person, project, list } = await openProject();
    const { page } = person;
    await choose(person, 'Archive', [
      archive({
        'Start here.md': '# Welcome\n\n[[Deep note#part|deep]] `[[Deep note]]`',
        'Notes/Deep note.md': '---\ntitle: Deeper\n---\ntext',
        'Notes/image.png': 'x',
        '.obsidian/app.json': '{}',
      }),
    ]);
    await page.getByText('2 documents to import, 1 skipped').waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Skipped files (1)' }).click();
    await page.getByText('Notes/image.png: not a markdown or text file').waitFor();
    expect(await list()).toEqual([]);
    await page.getByRole('button', { name: 'Import 2 documents' }).click();
    await page.getByText('2 of 2 documents were stored.').waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('link', { name: 'Welcome' }).waitFor();
    const stored = await list();
    expect(stored.map(({ slug, title }) => [slug, title]).sort()).toEqual([
      ['notes-deep-note', 'Deeper'],
      ['start-here', 'Welcome'],
    ]);
    const start = stored.find(({ slug }) => slug === 'start-here')!;
    expect((await project.read(start.id)).content).toBe(
      '# Welcome\n\n[[notes-deep-note|deep]] `[[Deep note]]`',
    );
  });

  it('requests a decision on taken slugs first, and finds nothing to do the second time', async () => {
    const { person, project, list } = await openProject();
    const { page } = person;
    const id = await project.write('a', 'Old', 'old text');
    const files = [
      { name: 'a.md', mimeType: 'text/markdown', buffer: Buffer.from('# New\n') },
      { name: 'b.txt', mimeType: 'text/plain', buffer: Buffer.from('plain') },
    ];
    await choose(person, 'Files', files);
    await page.getByText('1 document to import, 1 skipped').waitFor();
    await page.getByLabel('Import them under a new slug').check();
    await page.getByText('2 documents to import').waitFor();
    await page.getByLabel('Replace the existing documents').check();
    await page.getByRole('button', { name: 'Import 2 documents' }).click();
    await page.getByText('2 of 2 documents were stored.').waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    expect(await project.read(id)).toMatchObject({ title: 'New', content: '# New\n' });
    expect(await list()).toHaveLength(2);
    await choose(person, 'Files', files);
    await page.getByText('0 documents to import, 2 already there').waitFor();
  });

  it('stores nothing of a broken archive', async () => {
    const { person, list } = await openProject();
    const whole = archive({ 'a.md': 'text', 'b.md': 'text' });
    await choose(person, 'Archive', [{ ...whole, buffer: whole.buffer.subarray(0, -30) }]);
    await person.page.getByText('Nothing was imported.').waitFor();
    expect(await list()).toEqual([]);
  });

  it('stores nothing of an encrypted archive', async () => {
    const { person, list } = await openProject();
    const encrypted = archive({ 'a.md': 'text' });
    const directory = encrypted.buffer.readUInt32LE(encrypted.buffer.length - 6);
    encrypted.buffer.writeUInt16LE(1, directory + 8);
    await choose(person, 'Archive', [encrypted]);
    await person.page.getByText('unpack it, and choose the folder. Nothing was imported.').waitFor();
    expect(await list()).toEqual([]);
  });

  it('names the request of a document that cannot be stored', async () => {
    const { person } = await openProject();
    const { page } = person;
    await page.route('**/documents', (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({
            status: 503,
            headers: { 'X-Request-Id': 'request-of-test' },
            json: { error: { type: 'unavailable', message: 'storage is unavailable' } },
          })
        : route.continue(),
    );
    await choose(person, 'Archive', [archive({ 'a.md': 'text' })]);
    await page.getByRole('button', { name: 'Import 1 document' }).click();
    await page.getByRole('button', { name: 'Failed files (1)' }).click();
    await page.getByText(/^a\.md: Storage is unavailable\. .*\(request request-of-test\)$/).waitFor();
  });

  it('leaves complete documents when it is cancelled, and continues later', async () => {
    const { person, list } = await openProject();
    const { page } = person;
    const files = archive(
      Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`n-${index}.md`, `text ${index}`])),
    );
    let release: () => void;
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/documents', async (route) => {
      if (route.request().method() === 'POST') await held;
      await route.continue();
    });
    await choose(person, 'Archive', [files]);
    await page.getByRole('button', { name: 'Import 20 documents' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    release!();
    await page.getByText('4 of 20 documents were stored.').waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    expect(await list()).toHaveLength(4);
    await choose(person, 'Archive', [files]);
    await page.getByText('16 documents to import, 4 already there').waitFor();
    await page.getByRole('button', { name: 'Import 16 documents' }).click();
    await page.getByText('16 of 16 documents were stored.').waitFor();
    expect(await list()).toHaveLength(20);
  });

  /** Drags a file over the page. @returns a function that drops it, and tells whether the page handled the event */
  async function drag({ page }: Person, name: string, text: string): Promise<() => Promise<boolean>> {
    await page.evaluate(
      `window.dragged = new DataTransfer(); window.dragged.items.add(new File(['${text}'], '${name}')); 0`,
    );
    const send = (type: string) =>
      page.evaluate<boolean>(
        `!document.body.dispatchEvent(new DragEvent('${type}', { dataTransfer: window.dragged, bubbles: true, cancelable: true }))`,
      );
    await send('dragover');
    return () => send('drop');
  }

  it('accepts files that are dropped on the page', async () => {
    const { person } = await openProject();
    const { page } = person;
    const drop = await drag(person, 'dropped.md', '# Dropped');
    await page.getByText('Drop files to import them').waitFor();
    expect(await drop()).toBe(true);
    await page.getByText('1 document to import').waitFor();
  });

  it('accepts files that are dropped on the open dialog, until documents are stored', async () => {
    const { person, list } = await openProject();
    const { page } = person;
    await page.getByRole('button', { name: 'Import, export and links' }).click();
    await page.getByRole('menuitem', { name: 'Import' }).click();
    await page.getByRole('button', { name: 'Choose files' }).waitFor();
    expect(await (await drag(person, 'image.png', 'x'))()).toBe(true);
    await page.getByText('0 documents to import, 1 skipped').waitFor();
    expect(await (await drag(person, 'second.md', '# Second'))()).toBe(true);
    await page.getByText('1 document to import').waitFor();
    await page.getByRole('button', { name: 'Import 1 document' }).click();
    await page.getByText('1 of 1 documents were stored.').waitFor();
    expect(await (await drag(person, 'third.md', '# Third'))()).toBe(true);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('link', { name: 'Second' }).waitFor();
    expect(await list()).toHaveLength(1);
  });

  it('says which dropped file cannot be read', async () => {
    const { person } = await openProject();
    const { page } = person;
    await page.evaluate("Blob.prototype.arrayBuffer = () => Promise.reject(new DOMException('gone'))");
    expect(await (await drag(person, 'gone.md', 'x'))()).toBe(true);
    await page
      .getByText('gone.md cannot be read: check it, and choose the files again. Nothing was imported.')
      .waitFor();
    expect(person.problems).toEqual([]);
  });

  it('exports the whole project, and selected documents', async () => {
    const { person, project } = await openProject();
    const { page } = person;
    await project.write('a', 'A', 'text of a');
    await project.write('b', 'B', 'text of b');
    await page.reload();
    const save = async (act: () => Promise<void>) => {
      const [download] = await Promise.all([page.waitForEvent('download'), act()]);
      return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) };
    };
    await page.getByRole('button', { name: 'Import, export and links' }).click();
    const all = await save(() => page.getByRole('menuitem', { name: 'Export all' }).click());
    expect(all.name).toBe('Vault.zip');
    expect(Object.keys(unzipSync(all.bytes)).sort()).toEqual(['a.md', 'b.md']);
    await page.getByLabel('Select B').check();
    const one = await save(() => page.getByRole('button', { name: 'Export', exact: true }).click());
    expect([one.name, one.bytes.toString()]).toEqual(['b.md', 'text of b']);
  });
});
