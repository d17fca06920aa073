import type { PinnedChild } from './child.js';
import { create, newSession } from './session.js';

const PROJECTS = 100;
const READ_BODY_BYTES = 8_192;
const CREATED_BODY_BYTES = 2_048;

/** A kind of request that is measured. */
export interface Scenario {
  readonly name: string;
  readonly status: number;
  readonly next: () => Buffer;
}

/** Fills the database through the service and returns the requests to measure. */
export async function prepareKnowledgeBase(service: PinnedChild): Promise<Scenario[]> {
  const session = await newSession();
  const call = async (path: string, body: object) => {
    const response = await create(service.port, session, path, body);
    return { id: ((await response.json()) as { id: number }).id, etag: response.headers.get('etag') };
  };
  const projects: number[] = [];
  for (let i = 1; i <= PROJECTS; i++) {
    projects.push((await call('projects', { name: `Project ${i}`, description: 'A short description.' })).id);
  }
  const [readFrom, ...createIn] = projects.map((id) => `projects/${id}`) as [string, ...string[]];
  const content = text(READ_BODY_BYTES);
  const { id, etag } = await call(`${readFrom}/documents`, { title: 'Read document', slug: 'read', content });
  const get = (path: string, headers?: string) => constant(request(session, 'GET', path, headers));
  const document = `${readFrom}/documents/${id}`;
  return [
    { name: 'list of 100 projects', status: 200, next: get('projects') },
    { name: 'one project', status: 200, next: get(readFrom) },
    { name: 'metadata of a document (304)', status: 304, next: get(document, `If-None-Match: ${etag}\r\n`) },
    { name: 'document of 8 KiB', status: 200, next: get(document) },
    { name: 'create a document of 2 KiB', status: 201, next: creations(session, createIn) },
  ];
}

/**
 * Creates requests with a unique slug each, from templates, which keeps the load generator cheap. They rotate over the
 * projects, because a project has at most 10,000 documents.
 */
function creations(session: string, projects: readonly string[]): () => Buffer {
  const slug = (n: number) => `document-${String(n).padStart(9, '0')}`;
  const body = JSON.stringify({
    title: 'Created document',
    slug: slug(0),
    content: text(CREATED_BODY_BYTES),
  });
  const templates = projects.map((project) =>
    request(session, 'POST', `${project}/documents`, 'Content-Type: application/json\r\n', body),
  );
  let created = 0;
  return () => {
    const bytes = Buffer.from(templates[++created % templates.length]!);
    bytes.write(slug(created), bytes.indexOf(slug(0)));
    return bytes;
  };
}

function request(session: string, method: string, path: string, headers = '', body = ''): Buffer {
  const length = body === '' ? '' : `Content-Length: ${Buffer.byteLength(body)}\r\n`;
  return Buffer.from(
    `${method} /me/${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\nAuthorization: Bearer ${session}\r\n` +
      `${headers}${length}\r\n${body}`,
  );
}

function constant(bytes: Buffer): () => Buffer {
  return () => bytes;
}

function text(bytes: number): string {
  return 'Some Markdown with *emphasis* in a line\n'.repeat(Math.ceil(bytes / 40)).slice(0, bytes);
}
