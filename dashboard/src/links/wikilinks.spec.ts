import { findWikilinks, rewriteWikilinks } from './wikilinks';

const targets = (markdown: string) => findWikilinks(markdown).map(({ target }) => target);

it('reads target, heading and label', () => {
  expect(findWikilinks('See [[ setup #Linux|the setup]].')).toEqual([
    { from: 4, to: 31, target: 'setup', heading: '#Linux', label: 'the setup' },
  ]);
  expect(findWikilinks('[[setup]]')[0]).toMatchObject({ target: 'setup', heading: '', label: undefined });
});

it.each([
  ['`[[code]]`'],
  ['``a ` [[code]]``'],
  ['```\n[[code]]\n```'],
  ['~~~md\n[[code]]\n\n[[more]]\n~~~'],
  ['text\n\n    [[indented]]\n'],
  ['<!-- [[comment]] -->'],
  ['[[two\nlines]]'],
  ['[[]]'],
  ['[[a[b]]'],
])('finds no link in %j', (markdown) => {
  expect(targets(markdown)).toEqual([]);
});

it('finds links in headings, lists, tables and emphasis', () => {
  const markdown = '# [[a]]\n\n- **[[b]]**\n\n| x |\n|---|\n| [[c\\|label]] |\n\n> [[d]]';
  expect(targets(markdown)).toEqual(['a', 'b', 'c', 'd']);
});

it('rewrites targets and nothing else', () => {
  const markdown = '[[old]] `[[old]]` [[old#part|text]] | [[old\\|cell]] | [[other]]';
  const rewritten = rewriteWikilinks(markdown, ({ target }) => (target === 'old' ? 'new' : undefined));
  expect(rewritten).toBe('[[new]] `[[old]]` [[new#part|text]] | [[new\\|cell]] | [[other]]');
});

it('returns a text without matching links unchanged', () => {
  const markdown = 'no links\r\n\u0000 [[other]]';
  expect(rewriteWikilinks(markdown, () => undefined)).toBe(markdown);
});
