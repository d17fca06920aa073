import { ContentSearch, excerptOf } from './search';

const search = new ContentSearch([
  { id: 1, title: 'On call', slug: 'on-call', content: 'Who answers the pager at night.' },
  {
    id: 2,
    title: 'Release',
    slug: 'release',
    content: `${'x '.repeat(200)}the pager is silent ${'y '.repeat(200)}`,
  },
]);

it('finds documents by words of their content, and titles first', () => {
  expect(search.find('pager', 10).map(({ id }) => id)).toEqual([1, 2]);
  expect(search.find('release', 10).map(({ id }) => id)).toEqual([2]);
  expect(search.find('pager night', 10).map(({ id }) => id)).toEqual([1]);
  expect(search.find('pager', 1)).toHaveLength(1);
});

it('forgives a wrong letter, and the beginning of a word is enough', () => {
  expect(search.find('answeres', 10).map(({ id }) => id)).toEqual([1]);
  expect(search.find('pag', 10)).toHaveLength(2);
});

it('finds nothing for an empty query', () => {
  expect(search.find('  ', 10)).toEqual([]);
});

it('shows the place of the match', () => {
  expect(search.find('silent', 10)[0]!.excerpt).toMatch(/^….*the pager is silent.*…$/);
  expect(excerptOf('short text', ['absent'])).toBe('short text');
});
