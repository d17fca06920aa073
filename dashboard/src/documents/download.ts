import { fetchOrThrow } from '../api/client';
import type { Project } from '../projects/queries';
import { mapConcurrently } from '../text/map-concurrently';
import { loadDocument } from './queries';
import type { DocumentSummary } from './queries';

const PARALLEL = 4;
/** Names that Windows reserves for devices. */
const RESERVED = /^(con|prn|aux|nul|com\d|lpt\d)$/;

/** Saves some documents of a project as a zip file, or one document as a markdown file. */
export async function downloadDocuments(
  project: Project,
  documents: readonly DocumentSummary[],
): Promise<void> {
  const { strToU8, zipSync } = await import('fflate');
  const files = await mapConcurrently(documents, PARALLEL, async ({ id, slug }) => {
    const { content } = await loadDocument({
      owner: project.organization_id,
      project: project.id,
      document: id,
    });
    return [fileName(slug), strToU8(content)] as const;
  });
  const [first] = files;
  if (files.length === 1 && first)
    return save(new Blob([Uint8Array.from(first[1])], { type: 'text/markdown' }), first[0]);
  const zip = zipSync(Object.fromEntries(files));
  save(new Blob([Uint8Array.from(zip)], { type: 'application/zip' }), `${safeName(project.name)}.zip`);
}

/** Saves all documents of a project as the service packs them. */
export async function downloadProject(
  { organization_id: owner, id, name }: Project,
  hasFrontMatter: boolean,
): Promise<void> {
  const query = hasFrontMatter ? '?front_matter=true' : '';
  const response = await fetchOrThrow(`/me/organizations/${owner}/projects/${id}/export${query}`);
  save(await response.blob(), `${safeName(name)}.zip`);
}

/** File name of a document. */
export function fileName(slug: string): string {
  return `${RESERVED.test(slug) ? '_' : ''}${slug}.md`;
}

/** Name that all systems accept for a file. */
function safeName(name: string): string {
  // eslint-disable-next-line no-control-regex -- Windows rejects control characters
  return name.replace(/[<>:"/\\|?*\u0000-\u001f]/g, '-').replace(/[. ]+$/, '') || 'export';
}

/** Hands a file to the browser's downloads. */
export function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url));
}
