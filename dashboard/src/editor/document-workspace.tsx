import { useDebouncedCallback, useHotkeys, useMediaQuery } from '@mantine/hooks';
import type { EditorView } from '@codemirror/view';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useMemo, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { CreateDocumentModal } from '../documents/create-document-modal';
import { documentsQuery } from '../documents/queries';
import type { DocumentAddress } from '../documents/queries';
import { LinkIndex } from '../links/link-index';
import { useIsAdmin } from '../organizations/owner';
import { documentRoute } from '../routes';
import type { OpenedDocument } from '../saving/open-documents';
import { useSaver } from '../saving/use-saver';
import { slugify } from '../text/slug';
import { DocumentHeader } from './document-header';
import { DocumentBody } from './document-body';
import { MergeView } from './codemirror/merge-view';
import { SavingProblems } from './saving-problems';
import { parseView } from './view-mode';

interface Props {
  readonly address: DocumentAddress;
  readonly opened: OpenedDocument;
}

/** Pause after typing before preview and outline follow. Long texts take longer to render. */
const PREVIEW_DELAY_MS = 120;
const LONG_TEXT = 20_000;
const LONG_PREVIEW_DELAY_MS = 600;

/** Editor, preview and panel of an open document. */
export function DocumentWorkspace({ address, opened }: Props): ReactNode {
  const isAdmin = useIsAdmin();
  const editing = useEditing(opened);
  const { saver, state, previewText } = editing;
  const { data: documents } = useQuery(documentsQuery(address.owner, address.project));
  const index = useMemo(() => documents && new LinkIndex(documents), [documents]);
  const view = useRef<EditorView>(null);
  const isNarrow = useMediaQuery('(max-width: 62em)') ?? false;
  const mode = parseView(documentRoute.useSearch().view, isNarrow, isAdmin);
  const link = useOpenLink(address, index);
  return (
    <div className="document-layout wide">
      <DocumentHeader
        address={address}
        document={opened.document}
        saver={saver}
        state={state}
        mode={mode}
        isNarrow={isNarrow}
      />
      <SavingProblems document={opened.document} saver={saver} state={state} />
      {state.status === 'conflict' ? (
        <MergeView
          own={saver.content}
          server={state.server!.content}
          onFinish={editing.finishMerge}
          onChange={(content) => saver.edit(content)}
        />
      ) : (
        <DocumentBody
          key={editing.version}
          {...{ address, mode, previewText, index, view }}
          documents={documents ?? []}
          currentText={() => saver.content}
          isReadOnly={!isAdmin}
          onChange={editing.change}
          onOpenLink={link.open}
        />
      )}
      {link.missing !== undefined && (
        <CreateDocumentModal
          title={link.missing}
          slug={slugify(link.missing)}
          onClose={link.close}
          onCreated={({ id }) => link.openDocument(id)}
        />
      )}
    </div>
  );
}

/**
 * Text of the editor. A key press does not render the page: the editor shows it, and the preview follows after a pause.
 * `version` changes when the editor has to start again with another text.
 */
function useEditing({ saver }: OpenedDocument) {
  const state = useSaver(saver);
  const version = saver.replacements;
  const [preview, setPreview] = useState({ version, text: saver.content });
  if (preview.version !== version) setPreview({ version, text: saver.content });
  const delay = preview.text.length > LONG_TEXT ? LONG_PREVIEW_DELAY_MS : PREVIEW_DELAY_MS;
  const updatePreview = useDebouncedCallback(
    () => setPreview({ version: saver.replacements, text: saver.content }),
    delay,
  );
  const change = (content: string) => {
    saver.edit(content);
    updatePreview();
  };
  useHotkeys([['mod+S', () => void saver.saveNow()]], [], true);
  const finishMerge = (content: string) => void saver.finishMerge(content, state.server!);
  return { saver, state, version, previewText: preview.text, change, finishMerge };
}

/** Opens the target of a wikilink, or offers to create it. */
function useOpenLink(
  { owner, project }: DocumentAddress,
  index: LinkIndex<{ id: number; title: string; slug: string }> | undefined,
) {
  const [missing, setMissing] = useState<string>();
  const isAdmin = useIsAdmin();
  const navigate = useNavigate();
  const openDocument = (id: number) =>
    void navigate({
      to: '/o/$owner/projects/$project/documents/$document',
      params: { owner: String(owner), project: String(project), document: String(id) },
      search: (search) => search,
    });
  const open = (target: string) => {
    const found = index?.find(target);
    if (found) openDocument(found.id);
    else if (index && isAdmin) setMissing(target);
  };
  return { missing, open, openDocument, close: () => setMissing(undefined) };
}
