import { Checkbox, Paper, Text, UnstyledButton } from '@mantine/core';
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { ReactNode } from 'react';
import { documentsRoute } from '../routes';
import { FilterInput } from '../ui/forms/filter-input';
import { useUrlText } from '../ui/forms/use-url-text';
import { DocumentRows } from './document-rows';
import type { DocumentSummary } from './queries';
import { SelectionBar } from './selection-bar';
import { filterDocuments, formatSort, parseSort, sortDocuments, toggleSort } from './sort';
import type { Sort, SortKey } from './sort';

type Ids = ReadonlySet<number>;

/** Documents of a project with filter, order and selection. Filter and order are part of the URL. */
export function DocumentsTable({ documents }: { documents: readonly DocumentSummary[] }): ReactNode {
  const { sort: sortText } = documentsRoute.useSearch();
  const navigate = useNavigate({ from: documentsRoute.fullPath });
  const [filter, setFilter] = useFilter();
  const sort = useMemo(() => parseSort(sortText), [sortText]);
  const sorted = useMemo(() => sortDocuments(documents, sort), [documents, sort]);
  const shown = useMemo(() => filterDocuments(sorted, filter), [sorted, filter]);
  const [selected, setSelected] = useState<Ids>(new Set());
  const selectedDocuments = documents.filter(({ id }) => selected.has(id));
  const onSort = (key: SortKey) =>
    void navigate({
      search: (search) => ({ ...search, sort: formatSort(toggleSort(sort, key)) }),
      replace: true,
    });
  const onSelect = (id: number, isSelected: boolean) => setSelected((ids) => withId(ids, id, isSelected));
  const isAllSelected = shown.length > 0 && shown.every(({ id }) => selected.has(id));
  return (
    <>
      <FilterInput label="Filter documents" value={filter} onChange={setFilter} />
      <SelectionBar documents={selectedDocuments} onClear={() => setSelected(new Set())} />
      <Paper
        withBorder
        radius="lg"
        className="list"
        role="table"
        aria-label="Documents"
        aria-rowcount={shown.length + 1}
      >
        <div className="document-row table-head" role="row">
          <span role="columnheader">
            <Checkbox
              aria-label="Select all"
              checked={isAllSelected}
              indeterminate={selectedDocuments.length > 0 && !isAllSelected}
              onChange={() => setSelected(new Set(isAllSelected ? [] : shown.map(({ id }) => id)))}
            />
          </span>
          <SortHeader label="Title" column="title" sort={sort} onSort={onSort} />
          <SortHeader label="Slug" column="slug" sort={sort} onSort={onSort} />
          <SortHeader label="Changed" column="updated" sort={sort} onSort={onSort} />
        </div>
        <DocumentRows documents={shown} selected={selected} onSelect={onSelect} />
      </Paper>
      <Text size="sm" c="dimmed" mt="xs" role="status">
        {describeCount(shown.length, documents.length)}
      </Text>
    </>
  );
}

function useFilter() {
  const { q = '' } = documentsRoute.useSearch();
  const navigate = useNavigate({ from: documentsRoute.fullPath });
  return useUrlText(
    q,
    (text) => void navigate({ search: (search) => ({ ...search, q: text || undefined }), replace: true }),
  );
}

interface SortHeaderProps {
  readonly label: string;
  readonly column: SortKey;
  readonly sort: Sort;
  readonly onSort: (key: SortKey) => void;
}

function SortHeader({ label, column, sort, onSort }: SortHeaderProps): ReactNode {
  const isCurrent = sort.key === column;
  const Icon = sort.isDescending ? IconArrowDown : IconArrowUp;
  const direction = sort.isDescending ? 'descending' : 'ascending';
  return (
    <span role="columnheader" aria-sort={isCurrent ? direction : 'none'} className={`column-${column}`}>
      <UnstyledButton className="sort-button" onClick={() => onSort(column)}>
        {label} {isCurrent && <Icon size={14} aria-hidden />}
      </UnstyledButton>
    </span>
  );
}

function withId(ids: Ids, id: number, isIncluded: boolean): Ids {
  const next = new Set(ids);
  if (isIncluded) next.add(id);
  else next.delete(id);
  return next;
}

function describeCount(shown: number, all: number): string {
  if (shown === all) return all === 1 ? '1 document' : `${all} documents`;
  return shown === 0 ? 'No document matches the filter' : `${shown} of ${all} documents`;
}
