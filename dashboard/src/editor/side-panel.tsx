import { Anchor, Stack, Text, UnstyledButton } from '@mantine/core';
import { EditorView } from '@codemirror/view';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useDeferredValue, useMemo } from 'react';
import type { ReactNode, RefObject } from 'react';
import { documentsQuery } from '../documents/queries';
import type { DocumentAddress, DocumentSummary } from '../documents/queries';
import { contentsQuery } from '../links/contents';
import { buildLinkGraph } from '../links/link-index';
import type { LinkIndex } from '../links/link-index';
import { findWikilinks } from '../links/wikilinks';
import { ErrorNotice } from '../ui/error-notice';
import { readOutline } from './outline';
import type { Heading } from './outline';

interface Props {
  readonly address: DocumentAddress;
  readonly text: string;
  /** Undefined until the list of documents is loaded. */
  readonly index: LinkIndex<DocumentSummary> | undefined;
  readonly view: RefObject<EditorView | null>;
  readonly onOpenLink: (target: string) => void;
}

/** Outline, backlinks and broken links of the open document. They follow the text when nothing else is to do. */
export function SidePanel({ address, text, index, view, onOpenLink }: Props): ReactNode {
  const shown = useDeferredValue<string | undefined>(text, undefined);
  const outline = useMemo(() => (shown === undefined ? [] : readOutline(shown)), [shown]);
  const broken = useMemo(() => (shown && index ? findBroken(shown, index) : []), [shown, index]);
  return (
    <aside className="side-panel" aria-label="Outline and links">
      <PanelSection
        title="Outline"
        empty={shown !== undefined && 'Headings of the document appear here.'}
        count={outline.length}
      >
        {outline.map((heading) => (
          <OutlineItem key={heading.position} heading={heading} view={view} />
        ))}
      </PanelSection>
      <Backlinks address={address} />
      {broken.length > 0 && (
        <PanelSection title="Broken links" empty="" count={broken.length}>
          {broken.map((target) => (
            <UnstyledButton
              key={target}
              className="panel-item wikilink"
              data-missing
              onClick={() => onOpenLink(target)}
            >
              {target}
            </UnstyledButton>
          ))}
        </PanelSection>
      )}
    </aside>
  );
}

/** Documents that link to the open one, or why they are not known. */
function Backlinks({ address }: { address: DocumentAddress }): ReactNode {
  const { owner, project, document } = address;
  const documents = useQuery(documentsQuery(owner, project));
  const contents = useQuery(contentsQuery(owner, project));
  const backlinks = useMemo(
    () =>
      documents.data &&
      contents.data &&
      (buildLinkGraph(documents.data, contents.data.bySlug).backlinks.get(document) ?? []),
    [documents.data, contents.data, document],
  );
  const error = documents.error ?? contents.error;
  const retry = () => {
    if (documents.isError) void documents.refetch();
    if (contents.isError) void contents.refetch();
  };
  if (!backlinks && error)
    return (
      <PanelSection title="Linked from" empty="" count={1}>
        <ErrorNotice error={error} onRetry={retry} />
      </PanelSection>
    );
  return (
    <PanelSection
      title="Linked from"
      empty={backlinks ? 'No document links here.' : 'Loading…'}
      count={backlinks?.length ?? 0}
    >
      {backlinks?.map((one) => (
        <Backlink key={one.id} address={address} document={one} />
      ))}
    </PanelSection>
  );
}

function findBroken(text: string, index: LinkIndex<DocumentSummary>): string[] {
  const targets = findWikilinks(text).map(({ target }) => target);
  return [...new Set(targets)].filter((target) => !index.find(target));
}

interface SectionProps {
  readonly title: string;
  /** Shown if there are no items. */
  readonly empty: ReactNode;
  readonly count: number;
  readonly children: ReactNode;
}

function PanelSection({ title, empty, count, children }: SectionProps): ReactNode {
  return (
    <section>
      <Text component="h2" size="xs" fw={600} c="dimmed" mb={6}>
        {title}
      </Text>
      {count === 0 ? (
        <Text size="sm" c="dimmed">
          {empty}
        </Text>
      ) : (
        <Stack gap={2}>{children}</Stack>
      )}
    </section>
  );
}

const INDENT_PX = 12;

function OutlineItem({ heading, view }: { heading: Heading; view: RefObject<EditorView | null> }): ReactNode {
  const { text, level, position } = heading;
  return (
    <UnstyledButton
      className="panel-item truncate"
      style={{ paddingLeft: (level - 1) * INDENT_PX }}
      onClick={() => showHeading(heading, view.current)}
      title={text}
      data-position={position}
    >
      {text}
    </UnstyledButton>
  );
}

/** Scrolls the editor, or the preview if there is no editor, to a heading. */
function showHeading({ text, position }: Heading, view: EditorView | null): void {
  if (view) {
    const anchor = Math.min(position, view.state.doc.length);
    view.dispatch({
      selection: { anchor },
      effects: EditorView.scrollIntoView(anchor, { y: 'start', yMargin: 12 }),
    });
    view.focus();
  }
  const headings = document.querySelectorAll('.markdown :is(h1, h2, h3, h4, h5, h6)');
  const target = [...headings].find((element) => element.textContent === text);
  target?.scrollIntoView({ block: 'start' });
}

function Backlink({ address, document }: { address: DocumentAddress; document: DocumentSummary }): ReactNode {
  const params = {
    owner: String(address.owner),
    project: String(address.project),
    document: String(document.id),
  };
  return (
    <Anchor
      size="sm"
      className="panel-item truncate"
      renderRoot={(props) => (
        <Link to="/o/$owner/projects/$project/documents/$document" params={params} {...props} />
      )}
    >
      {document.title}
    </Anchor>
  );
}
