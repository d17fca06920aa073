import { slugify } from '../text/slug';
import { findWikilinks, rewriteWikilinks } from './wikilinks';

/** Document as links see it. */
export interface Linkable {
  readonly id: number;
  readonly title: string;
  readonly slug: string;
}

/** Finds the document that a wikilink names: by slug, else by title, else by the slug that its text would have. */
export class LinkIndex<T extends Linkable> {
  private readonly bySlug = new Map<string, T>();
  private readonly byTitle = new Map<string, T>();

  constructor(documents: readonly T[]) {
    for (const document of documents) {
      this.bySlug.set(document.slug, document);
      const title = document.title.toLowerCase();
      if (!this.byTitle.has(title)) this.byTitle.set(title, document);
    }
  }

  find(target: string): T | undefined {
    return (
      this.bySlug.get(target) ?? this.byTitle.get(target.toLowerCase()) ?? this.bySlug.get(slugify(target))
    );
  }
}

/** Link whose target does not exist. */
interface BrokenLink<T extends Linkable> {
  readonly document: T;
  readonly target: string;
}

/** Links between the documents of a project. */
export interface LinkGraph<T extends Linkable> {
  /** Documents that link to a document, by its id. */
  readonly backlinks: ReadonlyMap<number, readonly T[]>;
  readonly broken: readonly BrokenLink<T>[];
}

/** @param contents bodies of the documents, by slug */
export function buildLinkGraph<T extends Linkable>(
  documents: readonly T[],
  contents: ReadonlyMap<string, string>,
): LinkGraph<T> {
  const index = new LinkIndex(documents);
  const backlinks = new Map<number, T[]>();
  const broken: BrokenLink<T>[] = [];
  for (const document of documents) {
    const targets = new Set(findWikilinks(contents.get(document.slug) ?? '').map(({ target }) => target));
    const linked = new Set<number>();
    for (const target of targets) {
      const found = index.find(target);
      if (!found) broken.push({ document, target });
      else if (found.id !== document.id) linked.add(found.id);
    }
    for (const id of linked) backlinks.set(id, [...(backlinks.get(id) ?? []), document]);
  }
  return { backlinks, broken };
}

/**
 * Adapts the links of one text to a new slug of a document. Links that still find the document, such as those that
 * name its title, stay as they are.
 */
export function followSlugChange(
  markdown: string,
  documents: readonly Linkable[],
  id: number,
  newSlug: string,
): string {
  const before = new LinkIndex(documents);
  const after = new LinkIndex(documents.map((one) => (one.id === id ? { ...one, slug: newSlug } : one)));
  return rewriteWikilinks(markdown, ({ target }) =>
    before.find(target)?.id === id && after.find(target)?.id !== id ? newSlug : undefined,
  );
}
