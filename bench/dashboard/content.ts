import { mapConcurrently } from '../../src/common/async/map-concurrently.js';
import { create } from '../support/session.js';

const CREATIONS_AT_ONCE = 8;
const KIB = 1_024;

/** Objects that the pages show. */
export interface Content {
  readonly owner: number;
  /** Paths of pages. */
  readonly projects: string;
  readonly manyDocuments: string;
  readonly longDocument: string;
}

/** Creates a team with 20 projects: one with many documents, and one with a document of 100 KiB. */
export async function createContent(port: number, session: string, documents: number): Promise<Content> {
  const owner = await createId(port, session, 'organizations', { name: 'Acme', slug: 'acme' });
  const base = `organizations/${owner}/projects`;
  const ids: number[] = [];
  for (let i = 1; i <= 20; i++) ids.push(await createId(port, session, base, { name: `Project ${i}` }));
  const [many, long] = ids as [number, number];
  const numbers = Array.from({ length: documents }, (_, i) => String(i + 1).padStart(4, '0'));
  await mapConcurrently(numbers, CREATIONS_AT_ONCE, async (number) => {
    const document = { title: `Document ${number}`, slug: `document-${number}`, content: `# ${number}\n` };
    await createId(port, session, `${base}/${many}/documents`, document);
  });
  const document = { title: 'Long', slug: 'long', content: longText(100 * KIB) };
  const id = await createId(port, session, `${base}/${long}/documents`, document);
  const projects = `/o/${owner}/projects`;
  return {
    owner,
    projects,
    manyDocuments: `${projects}/${many}`,
    longDocument: `${projects}/${long}/documents/${id}`,
  };
}

async function createId(port: number, session: string, path: string, body: object): Promise<number> {
  const response = await create(port, session, path, body);
  return ((await response.json()) as { id: number }).id;
}

/** Markdown with headings, lists, code, tables and links. */
function longText(bytes: number): string {
  let text = '';
  for (let section = 1; text.length < bytes; section++) {
    text += `## Section ${section}\n\nA paragraph with *emphasis*, \`code\` and a link to [[document-0001]].\n\n`;
    text += '- a list item\n- another one with **weight**\n\n```ts\nconst answer = 42;\n```\n\n';
    text += '| column | value |\n| --- | --- |\n| a | 1 |\n\n';
  }
  return text.slice(0, bytes);
}
