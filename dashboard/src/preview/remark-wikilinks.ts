import type { Root } from 'mdast';
import { findAndReplace } from 'mdast-util-find-and-replace';

/** Links of this form are wikilinks. The sanitizer allows fragments. */
export const WIKILINK_PREFIX = '#wikilink:';

const PATTERN = /\[\[([^[\]|#\n]+)(#[^[\]|\n]*)?(?:\|([^[\]\n]*))?\]\]/g;

/** Turns `[[slug|text]]` into links. Code is no text for markdown, so that it stays as it is. */
export function remarkWikilinks(): (tree: Root) => void {
  return (tree) =>
    findAndReplace(tree, [
      PATTERN,
      (_match: string, target: string, heading?: string, label?: string) =>
        createLink(target, heading, label),
    ]);
}

function createLink(target: string, heading: string | undefined, label: string | undefined) {
  const text = label === undefined ? target.trim() + (heading ?? '') : label.trim();
  return {
    type: 'link' as const,
    url: WIKILINK_PREFIX + encodeURIComponent(target.trim()),
    children: [{ type: 'text' as const, value: text }],
  };
}
