import { readFrontMatter } from './front-matter';

it.each([
  ['---\ntitle: Plain title\n---\nbody', 'Plain title'],
  ["---\ntitle: 'It''s quoted'\n---\nbody", "It's quoted"],
  ['---\ntitle: "a \\"b\\" \\u00e9"\n---\nbody', 'a "b" é'],
  ['---\r\ntitle: Windows\r\n---\r\nbody', 'Windows'],
  ['---\ntags: [a]\ntitle: Later # comment\n---\nbody', 'Later'],
  ['---\ntitle: Release ---\ntags: [a]\n---\nbody', 'Release ---'],
  ['---\ntags: [a]\n---\nbody', undefined],
  ['---\n---\ntitle: x\n---\nbody', undefined],
  ['---\ntitle: |\n  block\n---\nbody', undefined],
  ['---\ntitle: "broken\n---\nbody', undefined],
  ['no front matter\n---\ntitle: x\n---', undefined],
  ['---\ntitle: never closed\n', undefined],
])('reads the title of %j', (text, title) => {
  expect(readFrontMatter(text).title).toBe(title);
});

it('removes only what the export of mintkeep wrote', () => {
  expect(readFrontMatter('---\ntitle: "A"\ncreated: 2026-01-01\nupdated: 2026-01-02\n---\nbody').body).toBe(
    'body',
  );
  const dashes = '---\ntitle: Release ---\ntags: [a]\n---\nbody';
  expect(readFrontMatter(dashes)).toMatchObject({ body: dashes, rest: 'body' });
  expect(readFrontMatter('---\n---\nbody\n---\n').rest).toBe('body\n---\n');
  const other = '---\ntitle: A\ntags: [x]\n---\nbody';
  expect(readFrontMatter(other)).toEqual({ title: 'A', body: other, rest: 'body' });
});
