import { buildLinkGraph, followSlugChange, LinkIndex } from './link-index';

const HOME = { id: 1, title: 'Home', slug: 'home' };
const SETUP = { id: 2, title: 'Getting Started', slug: 'setup' };
const DOCUMENTS = [HOME, SETUP];

it.each([
  ['setup', 2],
  ['Getting started', 2],
  ['HOME', 1],
  ['Home', 1],
  ['Set-up', undefined],
  ['getting-started', undefined],
])('resolves [[%s]]', (target, id) => {
  expect(new LinkIndex(DOCUMENTS).find(target)?.id).toBe(id);
});

it('prefers slugs to titles', () => {
  const trap = { id: 3, title: 'setup', slug: 'trap' };
  expect(new LinkIndex([trap, ...DOCUMENTS]).find('setup')?.id).toBe(2);
});

it('lists backlinks once, and broken links', () => {
  const contents = new Map([
    ['home', '[[setup]] [[Getting Started]] [[nowhere]] [[home]]'],
    ['setup', '`[[home]]`'],
  ]);
  const { backlinks, broken } = buildLinkGraph(DOCUMENTS, contents);
  expect([...backlinks]).toEqual([[2, [HOME]]]);
  expect(broken).toEqual([{ document: HOME, target: 'nowhere' }]);
});

it('changes only links that a new slug would break', () => {
  const follow = (markdown: string) => followSlugChange(markdown, DOCUMENTS, 2, 'start');
  expect(follow('[[setup|here]] [[Setup]] [[Getting Started]] [[home]]')).toBe(
    '[[start|here]] [[start]] [[Getting Started]] [[home]]',
  );
});
