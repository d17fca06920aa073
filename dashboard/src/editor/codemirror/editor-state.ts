import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { markdown, markdownLanguage } from '@codemirror/lang-markdown';
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState } from '@codemirror/state';
import type { Extension } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, placeholder } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { Linkable } from '../../links/link-index';
import { findWikilinks } from '../../links/wikilinks';
import { completeWikilinks } from './wikilink-completion';

/** Options and callbacks of an editor. */
export interface EditorOptions {
  readonly isReadOnly: boolean;
  readonly onChange: (text: string) => void;
  /** Documents that links can name. */
  readonly documents: () => readonly Linkable[];
  /** Called on Ctrl+click on a wikilink. */
  readonly onOpenLink: (target: string) => void;
}

const highlightStyle = HighlightStyle.define([
  { tag: tags.heading1, fontSize: '1.35em', fontWeight: '700' },
  { tag: tags.heading2, fontSize: '1.2em', fontWeight: '700' },
  { tag: tags.heading, fontWeight: '700' },
  { tag: tags.strong, fontWeight: '700' },
  { tag: tags.emphasis, fontStyle: 'italic' },
  { tag: tags.strikethrough, textDecoration: 'line-through' },
  { tag: [tags.link, tags.url], color: 'var(--editor-link)' },
  { tag: [tags.monospace, tags.contentSeparator], color: 'var(--editor-code)' },
  { tag: [tags.processingInstruction, tags.quote, tags.meta], color: 'var(--editor-mark)' },
]);

const theme = EditorView.theme({
  '&': { height: '100%', fontSize: '14.5px', backgroundColor: 'transparent' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': {
    fontFamily: 'var(--mantine-font-family-monospace)',
    lineHeight: '1.65',
    overflow: 'auto',
  },
  '.cm-content': { padding: '16px 20px 40vh', caretColor: 'var(--mantine-color-text)', maxWidth: '84ch' },
  '.cm-cursor': { borderLeftColor: 'var(--mantine-color-text)', borderLeftWidth: '2px' },
  '.cm-activeLine': { backgroundColor: 'var(--editor-active)' },
  '.cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground': {
    backgroundColor: 'var(--editor-selection)',
  },
  '.cm-panels': { backgroundColor: 'var(--mantine-color-body)', color: 'var(--mantine-color-text)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--mantine-color-body)',
    border: '1px solid var(--mantine-color-default-border)',
    borderRadius: '8px',
    overflow: 'hidden',
  },
  '.cm-tooltip-autocomplete ul li': { padding: '4px 10px' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--mantine-primary-color-filled)',
    color: 'var(--mantine-primary-color-contrast)',
  },
});

const KEYS = keymap.of([
  ...closeBracketsKeymap,
  ...defaultKeymap,
  ...searchKeymap,
  ...historyKeymap,
  ...completionKeymap,
  indentWithTab,
]);

/** State of the markdown editor, with the extensions that differ between reading and writing. */
export function createEditorState(text: string, options: EditorOptions): EditorState {
  const writing: Extension = [
    history(),
    closeBrackets(),
    autocompletion({ override: [completeWikilinks(options.documents)], icons: false }),
    placeholder('Write markdown. Type [[ to link another document.'),
  ];
  return EditorState.create({
    doc: text,
    extensions: [
      options.isReadOnly ? EditorState.readOnly.of(true) : writing,
      KEYS,
      markdown({ base: markdownLanguage }),
      syntaxHighlighting(highlightStyle),
      drawSelection(),
      bracketMatching(),
      highlightActiveLine(),
      highlightSelectionMatches(),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ 'aria-label': 'Markdown', spellcheck: 'true', tabindex: '0' }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) options.onChange(update.state.doc.toString());
      }),
      openLinks(options.onOpenLink),
      theme,
    ],
  });
}

/** Opens the wikilink below the pointer on Ctrl+click, because a plain click sets the cursor. */
function openLinks(onOpenLink: (target: string) => void): Extension {
  return EditorView.domEventHandlers({
    mousedown(event, view) {
      if (!event.ctrlKey && !event.metaKey) return false;
      const position = view.posAtCoords({ x: event.clientX, y: event.clientY });
      if (position === null) return false;
      const link = findWikilinks(view.state.doc.toString()).find(
        ({ from, to }) => position >= from && position <= to,
      );
      if (!link) return false;
      onOpenLink(link.target);
      return true;
    },
  });
}
