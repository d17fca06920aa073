import { markdownParser } from '../text/markdown-parser';

/** Heading of a document. */
export interface Heading {
  readonly level: number;
  readonly text: string;
  /** Offset of the heading's line. */
  readonly position: number;
}

/** Lists the headings of a markdown text. */
export function readOutline(markdown: string): Heading[] {
  const headings: Heading[] = [];
  markdownParser.parse(markdown).iterate({
    enter: ({ name, from, to }) => {
      const level = /^(?:ATX|Setext)Heading(\d)$/.exec(name)?.[1];
      if (level === undefined) return name === 'Document';
      const text = plainText(markdown.slice(from, to));
      if (text !== '') headings.push({ level: Number(level), text, position: from });
      return false;
    },
  });
  return headings;
}

/** Removes the marks of a heading and of its most usual inline markup. */
function plainText(source: string): string {
  return source
    .replace(/^#+\s*|\s+#+\s*$/g, '')
    .replace(/\n[=-]+\s*$/, '')
    .replace(/\[\[(?:[^\]|]*\|)?([^\]]*)\]\]/g, '$1')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[*_`~]+/g, '')
    .trim();
}
