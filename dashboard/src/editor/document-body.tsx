import type { EditorView } from '@codemirror/view';
import { useCallback } from 'react';
import type { ReactNode, RefObject } from 'react';
import type { DocumentAddress, DocumentSummary } from '../documents/queries';
import type { LinkIndex } from '../links/link-index';
import { Preview } from '../preview/preview';
import { CodeEditor } from './codemirror/code-editor';
import { SidePanel } from './side-panel';
import type { ViewMode } from './view-mode';

interface Props {
  readonly address: DocumentAddress;
  readonly mode: ViewMode;
  /** Text that an editor starts with. */
  readonly currentText: () => string;
  /** Text a moment ago, so that rendering does not slow down typing. */
  readonly previewText: string;
  readonly documents: readonly DocumentSummary[];
  /** Undefined until the list of documents is loaded. */
  readonly index: LinkIndex<DocumentSummary> | undefined;
  readonly view: RefObject<EditorView | null>;
  readonly isReadOnly: boolean;
  readonly onChange: (text: string) => void;
  readonly onOpenLink: (target: string) => void;
}

/** Editor and preview, and the panel with outline and links. */
export function DocumentBody(props: Props): ReactNode {
  const { address, mode, currentText, previewText, documents, index, view, isReadOnly, onOpenLink } = props;
  const renderWikilink = useCallback(
    (target: string, children: ReactNode) => (
      <button
        type="button"
        className="wikilink"
        data-missing={index && !index.find(target) ? true : undefined}
        onClick={() => onOpenLink(target)}
      >
        {children}
      </button>
    ),
    // The handler changes with every render, but depends on the index only.
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [index],
  );
  return (
    <div className="document-body" data-mode={mode}>
      {mode !== 'preview' && (
        <CodeEditor
          initial={currentText}
          viewRef={view}
          isReadOnly={isReadOnly}
          onChange={props.onChange}
          documents={() => documents.filter(({ id }) => id !== address.document)}
          onOpenLink={onOpenLink}
        />
      )}
      {mode !== 'edit' && (
        <section className="preview-pane" aria-label="Preview" tabIndex={0}>
          <Preview markdown={previewText} renderWikilink={renderWikilink} />
        </section>
      )}
      <SidePanel address={address} text={previewText} index={index} view={view} onOpenLink={onOpenLink} />
    </div>
  );
}
