import { useQueries, useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useMemo } from 'react';
import { documentsQuery } from '../documents/queries';
import type { DocumentSummary } from '../documents/queries';
import { contentsQuery } from '../links/contents';
import { projectsQuery } from '../projects/queries';
import type { Project } from '../projects/queries';
import { ContentSearch } from './search';
import type { Hit } from './search';

/** Projects whose documents are offered. Each costs a request. */
const MAX_PROJECTS = 30;
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

export function usePaletteEntries(owner: number, query: string, isOpen: boolean): PaletteEntries {
  const { project: projectId } = useParams({ strict: false });
  const openProject = projectId === undefined ? undefined : Number(projectId);
  const { data: projects = [], isPending } = useQuery({ ...projectsQuery(owner), enabled: isOpen });
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

/** Documents of all projects of the owner. */
function useAllDocuments(owner: number, projects: readonly Project[], isOpen: boolean) {
  return useQueries({
    queries: projects
      .slice(0, MAX_PROJECTS)
      .map(({ id }) => ({ ...documentsQuery(owner, id), enabled: isOpen })),
    combine: (results) =>
      results.flatMap(({ data = [] }, index) =>
        data.map((document) => ({ ...document, projectName: projects[index]!.name })),
      ),
  });
}

/** Index of the open project. It is built when the palette opens for the first time. */
function useContentSearch(
  owner: number,
  project: number | undefined,
  isOpen: boolean,
): ContentSearch | undefined {
  const enabled = isOpen && project !== undefined;
  const { data: documents } = useQuery({ ...documentsQuery(owner, project ?? 0), enabled });
  const { data: contents } = useQuery({ ...contentsQuery(owner, project ?? 0), enabled });
  return useMemo(() => {
    if (!enabled || !documents || !contents) return undefined;
    return new ContentSearch(
      documents.map(({ id, title, slug }) => ({ id, title, slug, content: contents.bySlug.get(slug) ?? '' })),
    );
  }, [enabled, documents, contents]);
}
