import type { DocumentSummary } from './queries';

/** Column that a list of documents is sorted by. */
export type SortKey = 'title' | 'slug' | 'updated';

/** Column and direction of a sorted list. */
export interface Sort {
  readonly key: SortKey;
  readonly isDescending: boolean;
}

const KEYS: readonly string[] = ['title', 'slug', 'updated'] satisfies SortKey[];
const DEFAULT: Sort = { key: 'title', isDescending: false };

const COLLATOR = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

/** Reads a sort order of the URL, such as `updated` or `-updated`. */
export function parseSort(value: string | undefined): Sort {
  const key = value?.replace(/^-/, '') ?? '';
  return KEYS.includes(key) ? { key: key as SortKey, isDescending: value!.startsWith('-') } : DEFAULT;
}

/** Formats an order for the URL; undefined for the usual order. */
export function formatSort({ key, isDescending }: Sort): string | undefined {
  if (key === DEFAULT.key && !isDescending) return undefined;
  return (isDescending ? '-' : '') + key;
}

/** Order after a click on a column: the other direction of the same column, or the usual one of another. */
export function toggleSort(sort: Sort, key: SortKey): Sort {
  if (sort.key === key) return { key, isDescending: !sort.isDescending };
  return { key, isDescending: key === 'updated' };
}

/** Sorts a copy of the list. */
export function sortDocuments(
  documents: readonly DocumentSummary[],
  { key, isDescending }: Sort,
): DocumentSummary[] {
  const direction = isDescending ? -1 : 1;
  return documents.toSorted((a, b) => direction * compare(a, b, key));
}

function compare(a: DocumentSummary, b: DocumentSummary, key: SortKey): number {
  if (key === 'updated') return a.updated_at < b.updated_at ? -1 : Number(a.updated_at > b.updated_at);
  return COLLATOR.compare(a[key], b[key]) || a.id - b.id;
}

/** Keeps documents whose title or slug contains all words of the filter. */
export function filterDocuments(
  documents: readonly DocumentSummary[],
  filter: string,
): readonly DocumentSummary[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return documents;
  return documents.filter(({ title, slug }) => {
    const text = `${title.toLowerCase()}\n${slug}`;
    return words.every((word) => text.includes(word));
  });
}
