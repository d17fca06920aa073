import { slugify } from '../text/slug';
import type { RawFile } from './archive/archive';
import type { ExistingDocument } from './comparison';
import { planImport } from './plan';
import type { TakenChoice } from './plan';

const file = (path: string, text: string): RawFile => ({ path, bytes: new TextEncoder().encode(text) });
const existing = (slug: string, content = 'old', title = slug, id = 7): ExistingDocument => ({
  id,
  slug,
  title,
  content,
});
const plan = (files: RawFile[], documents: ExistingDocument[] = [], taken: TakenChoice = 'skip') =>
  planImport(files, documents, { taken, slugify });

it('finds titles in front matter, heading and file name, in this order', () => {
  const { documents } = plan([
    file('a.md', '---\ntitle: From matter\n---\n# Heading'),
    file('b.md', 'text\n\n# Heading #\n'),
    file('Some Notes.txt', 'plain'),
    file('d.markdown', '```\n# code\n```\n'),
  ]);
  expect(documents.map(({ slug, title }) => [slug, title])).toEqual([
    ['some-notes', 'Some Notes'],
    ['a', 'From matter'],
    ['b', 'Heading'],
    ['d', 'd'],
  ]);
});

it('joins folder names with hyphens, and makes slugs of one import unique', () => {
  const { documents } = plan([file('Notes/Über uns.md', 'x'), file('notes-uber-uns.md', 'y')]);
  expect(documents.map(({ slug }) => slug)).toEqual(['notes-uber-uns', 'notes-uber-uns-2']);
});

it('reports files that cannot be documents, and ignores those of programs', () => {
  const invalid = { path: 'bad.md', bytes: Uint8Array.of(0xff, 0xfe) };
  const { documents, skipped } = plan([
    file('image.png', 'x'),
    invalid,
    file('large.md', 'x'.repeat(1_048_577)),
    file('escapes.md', '"'.repeat(600_000)),
    file('!!!.md', 'x'),
    file('.obsidian/app.json', '{}'),
    file('__MACOSX/._a.md', 'x'),
    file('Vault/.git/HEAD', 'x'),
    file('Vault/.trash/b.md', 'x'),
    file('.todo.md', 'x'),
  ]);
  expect(documents).toEqual([]);
  const hidden = 'hidden: its name or the name of a folder begins with a dot';
  expect(Object.fromEntries(skipped.map(({ path, reason }) => [path, reason]))).toEqual({
    'image.png': 'not a markdown or text file',
    'bad.md': 'not valid UTF-8',
    'large.md': 'larger than 1 MiB',
    'escapes.md': 'larger than 1 MiB',
    'Vault/.trash/b.md': hidden,
    '.todo.md': hidden,
    '!!!.md': 'the file name has no letters or digits for a slug',
  });
});

it('skips, renames or replaces documents whose slug is taken', () => {
  const files = [file('a.md', 'new'), file('b.md', 'new')];
  const documents = [existing('a')];
  expect(plan(files, documents, 'skip')).toMatchObject({
    documents: [{ slug: 'b' }],
    skipped: [{ path: 'a.md', reason: 'the slug a is taken' }],
    takenCount: 1,
  });
  expect(plan(files, documents, 'rename').documents.map(({ slug }) => slug)).toEqual(['a-2', 'b']);
  expect(plan(files, documents, 'replace').documents).toMatchObject([
    { slug: 'a', replaces: 7 },
    { slug: 'b' },
  ]);
});

it.each(['skip', 'rename', 'replace'] as const)('continues an interrupted import (%s)', (taken) => {
  const files = [file('a.md', 'see [[B]]'), file('b.md', '# B'), file('c.md', 'third')];
  const before = taken === 'rename' ? [existing('a')] : [];
  const [first] = plan(files, before, taken).documents;
  const stored = { id: 9, ...first! };
  const again = plan(files, [...before, stored], taken);
  expect(again.unchanged).toEqual(['a.md']);
  expect(again.documents.map(({ path }) => path)).toEqual(['b.md', 'c.md']);
  expect(again.takenCount).toBe(0);
});

it.each([
  ['[[Alpha]]', '[[Beta]]'],
  ['[[Alpha|see]]', '[[Beta|see]]'],
  ['[[Alpha|see]]', '[[Alpha|look]]'],
  ['[[Alpha]]', '[[nowhere]]'],
  ['[[nowhere#a]]', '[[nowhere#b]]'],
  ['[[Alpha|see]]', '[[Alpha 2|see]]'],
])('notices that %s in a note became %s', (before, after) => {
  const others = [file('Alpha.md', 'x'), file('Beta.md', 'y'), file('Alpha 2.md', 'z')];
  const files = (text: string) => [...others, file('note.md', text)];
  const stored = plan(files(before)).documents.map((document, index) => ({ id: index + 1, ...document }));
  expect(plan(files(before), stored, 'replace').documents).toEqual([]);
  for (const [from, to] of [
    [stored, files(after)],
    [plan(files(after)).documents.map((one, index) => ({ id: index + 1, ...one })), files(before)],
  ] as const) {
    expect(plan(to, from).takenCount).toBe(1);
    const { documents } = plan(to, from, 'replace');
    expect(documents).toMatchObject([{ path: 'note.md', replaces: expect.any(Number) }]);
  }
});

it('finds notes whose names have decomposed accents', () => {
  const [composed, decomposed] = ['\u00dcber', 'U\u0308ber'];
  const files = [file(`${decomposed}.md`, 'x'), file('note.md', `[[${composed}]] [[${decomposed}|it]]`)];
  const { documents } = plan(files);
  expect(documents).toMatchObject([
    { slug: 'note', content: `[[uber|${composed}]] [[uber|it]]` },
    { slug: 'uber', title: composed },
  ]);
  const project = [existing('welcome', 'x', composed)];
  expect(plan([file('a.md', `[[${decomposed}|it]]`)], project).documents).toMatchObject([
    { content: '[[welcome|it]]' },
  ]);
});

it('escapes the bar of links in tables', () => {
  const table = '| a | b |\n|---|---|\n| [[Note name]] | [[Note name\\|it]] |\n\n[[Note name]] \\| |';
  const { documents } = plan([file('a.md', table), file('Note name.md', 'x')]);
  expect(documents[1]!.content).toBe(
    '| a | b |\n|---|---|\n| [[note-name\\|Note name]] | [[note-name\\|it]] |\n\n[[note-name|Note name]] \\| |',
  );
});

it('rewrites links to notes of the import and of the project', () => {
  const { documents } = plan(
    [
      file(
        'Vault/Start.md',
        '[[Note name#heading|text]] [[Folder/Deep note]] [[Home]] [[nowhere]] ![[Note name]] `[[Note name]]`',
      ),
      file('Vault/Note name.md', 'x'),
      file('Vault/Folder/Deep note.md', '| [[Start\\|begin]] |'),
    ],
    [existing('welcome', 'x', 'Home')],
  );
  const contents = Object.fromEntries(documents.map(({ slug, content }) => [slug, content]));
  expect(contents['vault-start']).toBe(
    '[[vault-note-name|text]] [[vault-folder-deep-note|Folder/Deep note]] [[welcome|Home]] [[nowhere]] ![[Note name]] `[[Note name]]`',
  );
  expect(contents['vault-folder-deep-note']).toBe('| [[vault-start\\|begin]] |');
});

it('removes a byte order mark, and keeps other bytes', () => {
  const { documents } = plan([file('a.md', '\ufeff# A\r\n')]);
  expect(documents).toMatchObject([{ title: 'A', content: '# A\r\n' }]);
});
