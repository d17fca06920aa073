import { Checkbox } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { memo, useLayoutEffect, useRef, useState } from 'react';
import type { CSSProperties, ReactNode } from 'react';
import { useProject } from '../projects/project';
import { TimeAgo } from '../ui/time-ago';
import type { DocumentSummary } from './queries';

const ROW_HEIGHT = 49;
/** Rows above and below the visible part, so that fast scrolling shows no blank area. */
const OVERSCAN = 20;

interface Props {
  readonly documents: readonly DocumentSummary[];
  readonly selected: ReadonlySet<number>;
  readonly onSelect: (id: number, isSelected: boolean) => void;
}

/** Renders the visible rows only, because a project may have 10,000 documents. */
export function DocumentRows({ documents, selected, onSelect }: Props): ReactNode {
  'use no memo'; // the virtualizer changes in place
  const list = useRef<HTMLDivElement>(null);
  const [offset, setOffset] = useState(0);
  useLayoutEffect(() => {
    if (list.current) setOffset(list.current.getBoundingClientRect().top + window.scrollY);
  }, []);
  const rows = useWindowVirtualizer({
    count: documents.length,
    estimateSize: () => ROW_HEIGHT,
    overscan: OVERSCAN,
    scrollMargin: offset,
  });
  return (
    <div ref={list} role="rowgroup" style={{ position: 'relative', height: rows.getTotalSize() }}>
      {rows.getVirtualItems().map(({ index, start }) => {
        const document = documents[index]!;
        return (
          <DocumentRow
            // A filter changes the document of a row. A row that is kept costs less than a new one.
            key={index}
            index={index}
            document={document}
            top={start - offset}
            isSelected={selected.has(document.id)}
            onSelect={onSelect}
          />
        );
      })}
    </div>
  );
}

interface RowProps {
  readonly index: number;
  readonly document: DocumentSummary;
  readonly top: number;
  readonly isSelected: boolean;
  readonly onSelect: (id: number, isSelected: boolean) => void;
}

const DocumentRow = memo(function DocumentRow({
  index,
  document,
  top,
  isSelected,
  onSelect,
}: RowProps): ReactNode {
  const { organization_id: owner } = useProject();
  const params = {
    owner: String(owner),
    project: String(document.project_id),
    document: String(document.id),
  };
  const style: CSSProperties = { position: 'absolute', top, left: 0, right: 0, height: ROW_HEIGHT };
  return (
    <div className="document-row" role="row" aria-rowindex={index + 2} style={style}>
      <span role="cell">
        <Checkbox
          aria-label={`Select ${document.title}`}
          checked={isSelected}
          onChange={(event) => onSelect(document.id, event.currentTarget.checked)}
        />
      </span>
      <span role="cell" className="column-title">
        <Link
          to="/o/$owner/projects/$project/documents/$document"
          params={params}
          className="document-link truncate"
        >
          {document.title}
        </Link>
      </span>
      <span role="cell" className="column-slug truncate">
        {document.slug}
      </span>
      <span role="cell" className="column-updated truncate">
        <TimeAgo time={document.updated_at} />
      </span>
    </div>
  );
});
