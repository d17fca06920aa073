import { queryOptions } from '@tanstack/react-query';
import { fetchWithSession } from '../api/client';
import { ApiError } from '../api/errors';
import { queryClient } from '../api/query-client';

/** Contents of all documents of a project, by slug. */
export interface Contents {
  readonly etag: string | null;
  readonly bySlug: ReadonlyMap<string, string>;
}

const NOT_MODIFIED = 304;
const FRESH_MS = 60_000;

/** Contents from the project's export. A current copy is kept by its ETag. */
export const contentsQuery = (owner: number, project: number) =>
  queryOptions({
    queryKey: ['contents', owner, project] as const,
    staleTime: FRESH_MS,
    queryFn: ({ queryKey }) => loadContents(owner, project, queryClient.getQueryData<Contents>(queryKey)),
  });

async function loadContents(owner: number, project: number, known: Contents | undefined): Promise<Contents> {
  const headers = known?.etag == null ? undefined : { 'If-None-Match': known.etag };
  const response = await fetchWithSession(`/me/organizations/${owner}/projects/${project}/export`, {
    headers,
  });
  if (response.status === NOT_MODIFIED && known) return known;
  if (!response.ok) throw await ApiError.from(response);
  const [{ strFromU8, unzipSync }, bytes] = await Promise.all([import('fflate'), response.arrayBuffer()]);
  const files = Object.entries(unzipSync(new Uint8Array(bytes)));
  const bySlug = new Map(files.map(([name, file]) => [slugOf(name), strFromU8(file)]));
  return { etag: response.headers.get('ETag'), bySlug };
}

/** Slug of an exported file. An underscore stands before names that Windows reserves. */
function slugOf(fileName: string): string {
  return fileName.replace(/\.md$/, '').replace(/^_/, '');
}

/** Gives a document of the copy its new slug, under which the next export has it. */
export function moveContent(owner: number, project: number, oldSlug: string, newSlug: string): void {
  const { queryKey } = contentsQuery(owner, project);
  queryClient.setQueryData(queryKey, (known: Contents | undefined) => {
    const content = known?.bySlug.get(oldSlug);
    if (!known || content === undefined) return known;
    const bySlug = new Map(known.bySlug).set(newSlug, content);
    bySlug.delete(oldSlug);
    return { ...known, bySlug };
  });
  void queryClient.invalidateQueries({ queryKey });
}

/** Adds a saved text to the copy, which would otherwise be one version behind. */
export function rememberContent(owner: number, project: number, slug: string, content: string): void {
  queryClient.setQueryData(
    contentsQuery(owner, project).queryKey,
    (known: Contents | undefined) => known && { ...known, bySlug: new Map(known.bySlug).set(slug, content) },
  );
}
