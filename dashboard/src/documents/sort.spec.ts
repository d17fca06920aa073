import { filterDocuments, formatSort, parseSort, sortDocuments, toggleSort } from './sort';

const document = (id: number, title: string, slug: string, day: number) => ({
  id,
  project_id: 1,
  title,
  slug,
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: `2026-01-0${day}T00:00:00.000Z`,
});
const LIST = [
  document(1, 'Chapter 10', 'z', 3),
  document(2, 'chapter 9', 'b', 1),
  document(3, 'Äpfel', 'a', 2),
];
const ids = (value: string | undefined) => sortDocuments(LIST, parseSort(value)).map(({ id }) => id);

it('sorts titles without regard to case, and numbers by value', () => {
  expect(ids(undefined)).toEqual([3, 2, 1]);
  expect(ids('-title')).toEqual([1, 2, 3]);
  expect(ids('slug')).toEqual([3, 2, 1]);
  expect(ids('-updated')).toEqual([1, 3, 2]);
});

it('ignores an unknown order of the URL', () => {
  expect(parseSort('owner; drop')).toEqual({ key: 'title', isDescending: false });
  expect(formatSort(parseSort('-slug'))).toBe('-slug');
  expect(formatSort(parseSort('title'))).toBeUndefined();
});

it('turns the direction of the same column, and shows the latest change first', () => {
  expect(toggleSort(parseSort('slug'), 'slug')).toEqual({ key: 'slug', isDescending: true });
  expect(toggleSort(parseSort('slug'), 'updated')).toEqual({ key: 'updated', isDescending: true });
});

it('filters by all words in title and slug', () => {
  expect(filterDocuments(LIST, ' CHAPTER  9').map(({ id }) => id)).toEqual([2]);
  expect(filterDocuments(LIST, '')).toBe(LIST);
  expect(filterDocuments(LIST, 'nothing')).toEqual([]);
});
