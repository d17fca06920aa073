import { markdownParser } from '../text/markdown-parser';

/** Link to another document, such as `[[slug#heading|text]]`. */
export interface Wikilink {
  readonly from: number;
  readonly to: number;
  readonly target: string;
  /** Part from `#` on, or an empty string. */
  readonly heading: string;
  /** Text after `|`, if there is one. */
  readonly label: string | undefined;
}

/** The bar is escaped in tables, as in `[[slug\|text]]`. */
const PATTERN = /\[\[([^[\]|#\n\\]+)(#[^[\]|\n\\]*)?(?:\\?\|([^[\]\n]*))?\]\]/g;

/** Nodes of the markdown tree whose text is not markdown. */
const CODE = ['FencedCode', 'CodeBlock', 'InlineCode', 'HTMLBlock', 'CommentBlock', 'Comment'];

/** Finds all wikilinks outside of code. */
export function findWikilinks(markdown: string): Wikilink[] {
  if (!markdown.includes('[[')) return [];
  const isCode = findCode(markdown);
  return [...markdown.matchAll(PATTERN)]
    .filter(({ index }) => !isCode(index))
    .map((match) => ({
      from: match.index,
      to: match.index + match[0].length,
      target: match[1]!.trim(),
      heading: match[2] ?? '',
      label: match[3],
    }));
}

/** Returns a function that tells whether a position is inside of code. */
function findCode(markdown: string): (position: number) => boolean {
  const ranges: { from: number; to: number }[] = [];
  markdownParser.parse(markdown).iterate({
    enter: ({ name, from, to }) => {
      if (!CODE.includes(name)) return true;
      ranges.push({ from, to });
      return false;
    },
  });
  return (position) => ranges.some(({ from, to }) => position >= from && position < to);
}

/**
 * Replaces the targets of wikilinks. Headings and labels stay.
 * @param replace new target, or undefined to leave the link as it is
 */
export function rewriteWikilinks(markdown: string, replace: (link: Wikilink) => string | undefined): string {
  let result = '';
  let end = 0;
  for (const link of findWikilinks(markdown)) {
    const target = replace(link);
    if (target === undefined) continue;
    const source = markdown.slice(link.from, link.to);
    const rest = source.slice(2).replace(/^[^|#\]\\]+/, '');
    result += `${markdown.slice(end, link.from)}[[${target}${rest}`;
    end = link.to;
  }
  return result + markdown.slice(end);
}
