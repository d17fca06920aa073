import type { Completion, CompletionContext, CompletionSource } from '@codemirror/autocomplete';
import type { EditorView } from '@codemirror/view';
import type { Linkable } from '../../links/link-index';

const CLOSING = ']]';

/** Completes titles and slugs after `[[`. */
export function completeWikilinks(documents: () => readonly Linkable[]): CompletionSource {
  return (context: CompletionContext) => {
    const open = context.matchBefore(/\[\[[^[\]|#\n]*/);
    if (!open) return null;
    return {
      from: open.from + 2,
      validFor: /^[^[\]|#\n]*$/,
      options: documents().map(toCompletion),
    };
  };
}

function toCompletion({ title, slug }: Linkable): Completion {
  return {
    // Matching by both, so that a person finds the document by what they remember.
    label: `${title} ${slug}`,
    displayLabel: title,
    detail: slug,
    apply: (view, _completion, from, to) => insertLink(view, slug, from, to),
  };
}

/** Inserts the slug, and closes the link unless it is closed already. */
function insertLink(view: EditorView, slug: string, from: number, to: number): void {
  const isClosed = view.state.sliceDoc(to, to + CLOSING.length) === CLOSING;
  const insert = isClosed ? slug : slug + CLOSING;
  const anchor = from + slug.length + CLOSING.length;
  view.dispatch({ changes: { from, to, insert }, selection: { anchor }, userEvent: 'input.complete' });
}
