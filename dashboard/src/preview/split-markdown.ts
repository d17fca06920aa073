import { markdownParser } from '../text/markdown-parser';

/** Shorter parts would cost more in overhead than they save. */
const MIN_PART_CHARACTERS = 4_096;
const FOOTNOTE = /^ {0,3}\[\^[^\]]+\]:/m;

/**
 * Splits a long text between top-level blocks. Parts can be rendered one by one, and only a changed one again.
 * Every part ends with the link definitions of the whole text. A text with footnotes stays whole, because their numbers
 * depend on all of it.
 */
export function splitMarkdown(markdown: string): string[] {
  if (markdown.length <= MIN_PART_CHARACTERS || FOOTNOTE.test(markdown)) return [markdown];
  const starts = [0];
  const definitions: string[] = [];
  markdownParser.parse(markdown).iterate({
    enter: ({ name, from, to, node }) => {
      if (name === 'LinkReference') definitions.push(markdown.slice(from, to));
      if (node.parent?.name === 'Document' && from - starts.at(-1)! >= MIN_PART_CHARACTERS) starts.push(from);
      return name !== 'Paragraph';
    },
  });
  const suffix = definitions.length > 0 ? `\n\n${definitions.join('\n')}` : '';
  return starts.map((start, index) => markdown.slice(start, starts[index + 1]) + suffix);
}
