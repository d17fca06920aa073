import MiniSearch from 'minisearch';

/** Document with its content, for the index. */
export interface Searchable {
  readonly id: number;
  readonly title: string;
  readonly slug: string;
  readonly content: string;
}

/** Document that contains all words of a query. */
export interface Hit {
  readonly id: number;
  readonly title: string;
  /** Part of the content around the first match. */
  readonly excerpt: string;
}

const EXCERPT_BEFORE = 40;
const EXCERPT_LENGTH = 120;
const FUZZINESS = 0.15;
const TITLE_WEIGHT = 3;

/** Index of titles and contents of a project. */
export class ContentSearch {
  private readonly index = new MiniSearch<Searchable>({
    fields: ['title', 'slug', 'content'],
    searchOptions: {
      prefix: true,
      fuzzy: FUZZINESS,
      boost: { title: TITLE_WEIGHT, slug: 2 },
      combineWith: 'AND',
    },
  });
  private readonly documents: ReadonlyMap<number, Searchable>;

  constructor(documents: readonly Searchable[]) {
    this.documents = new Map(documents.map((document) => [document.id, document]));
    this.index.addAll(documents);
  }

  /** @returns the best matches, best first */
  find(query: string, limit: number): Hit[] {
    if (query.trim() === '') return [];
    return this.index
      .search(query)
      .slice(0, limit)
      .map(({ id, terms }) => {
        const { title, content } = this.documents.get(id as number)!;
        return { id: id as number, title, excerpt: excerptOf(content, terms) };
      });
  }
}

/** Cuts a line around the first of the words. */
export function excerptOf(content: string, words: readonly string[]): string {
  const text = content.replace(/\s+/g, ' ').trim();
  const lower = text.toLowerCase();
  const positions = words.map((word) => lower.indexOf(word)).filter((position) => position >= 0);
  const start = Math.max(0, Math.min(...positions, text.length) - EXCERPT_BEFORE);
  const from = positions.length === 0 ? 0 : start;
  const part = text.slice(from, from + EXCERPT_LENGTH);
  return (from > 0 ? '…' : '') + part + (from + EXCERPT_LENGTH < text.length ? '…' : '');
}
