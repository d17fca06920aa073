import { useQueries, useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { documentsQuery } from '../documents/queries';
import type { DocumentSummary } from '../documents/queries';
import { contentsQuery } from '../links/contents';
import { projectsQuery } from '../projects/queries';
import type { Project } from '../projects/queries';
import { ContentSearch } from './search';
import type { Hit } from './search';

/** Projects whose documents are loaded together. Each costs a request, so the others follow when these are there. */
const PROJECTS_AT_ONCE = 30;
const MAX_PER_GROUP = 8;

/** Entries of the palette for a query. */
export interface PaletteEntries {
  readonly projects: readonly Project[];
  readonly documents: readonly (DocumentSummary & { readonly projectName: string })[];
  /** Matches in the contents of the open project. */
  readonly hits: readonly Hit[];
  readonly openProject: number | undefined;
  readonly isLoading: boolean;
}

/** Entries of the command palette that match a query. Nothing is loaded while the palette is closed. */
export function usePaletteEntries(owner: number, query: string, isOpen: boolean): PaletteEntries {
  const { project: projectId } = useParams({ strict: false });
  const openProject = projectId === undefined ? undefined : Number(projectId);
  const { data: projects = [], isPending } = useQuery({
    ...projectsQuery(owner),
    enabled: isOpen,
    staleTime: 0,
  });
  const documents = useAllDocuments(owner, projects, isOpen);
  const search = useContentSearch(owner, openProject, isOpen);
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (text: string) => words.every((word) => text.toLowerCase().includes(word));
  const shownDocuments = documents
    .filter(({ title, slug }) => matches(`${title}\n${slug}`))
    .slice(0, MAX_PER_GROUP);
  const shown = new Set(shownDocuments.map(({ id }) => id));
  return {
    projects: projects.filter(({ name }) => matches(name)).slice(0, MAX_PER_GROUP),
    documents: words.length > 0 ? shownDocuments : [],
    hits: (search?.find(query, MAX_PER_GROUP) ?? []).filter(({ id }) => !shown.has(id)),
    openProject,
    isLoading: isPending,
  };
}

/** Documents of all projects of the owner, one group of projects after the other. */
function useAllDocuments(owner: number, projects: readonly Project[], isOpen: boolean) {
  const [count, setCount] = useState(PROJECTS_AT_ONCE);
  const { documents, isComplete } = useQueries({
    queries: projects.slice(0, count).map(({ id }) => ({ ...documentsQuery(owner, id), enabled: isOpen })),
    combine: (results) => ({
      documents: results.flatMap(({ data = [] }, index) =>
        data.map((document) => ({ ...document, projectName: projects[index]!.name })),
      ),
      isComplete: results.every(({ isPending }) => !isPending),
    }),
  });
  if (isOpen && isComplete && count < projects.length) setCount(count + PROJECTS_AT_ONCE);
  return documents;
}

/** Index of the open project. Its texts are compared with those of the service whenever the palette opens. */
function useContentSearch(
  owner: number,
  project: number | undefined,
  isOpen: boolean,
): ContentSearch | undefined {
  const enabled = isOpen && project !== undefined;
  const { data: documents } = useQuery({ ...documentsQuery(owner, project ?? 0), enabled, staleTime: 0 });
  const { data: contents } = useQuery({ ...contentsQuery(owner, project ?? 0), enabled, staleTime: 0 });
  return useMemo(() => {
    if (!enabled || !documents || !contents) return undefined;
    return new ContentSearch(
      documents.map(({ id, title, slug }) => ({ id, title, slug, content: contents.bySlug.get(slug) ?? '' })),
    );
  }, [enabled, documents, contents]);
}
