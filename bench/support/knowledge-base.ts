import type { PinnedChild } from './child.js';
import { create, newSession } from './session.js';

const PROJECTS = 100;
const READ_BODY_BYTES = 8_192;
const CREATED_BODY_BYTES = 2_048;

/** One kind of request, sent again and again. */
export interface Scenario {
  readonly name: string;
  readonly status: number;
  readonly next: () => Buffer;
}

/** Fills the database through the service, and knows the requests to be measured. */
export async function prepareKnowledgeBase(service: PinnedChild): Promise<Scenario[]> {
  const session = await newSession();
  const call = async (path: string, body: object) => {
    const response = await create(service.port, session, path, body);
    return { id: ((await response.json()) as { id: number }).id, etag: response.headers.get('etag') };
  };
  const projects: number[] = [];
  for (let i = 1; i <= PROJECTS; i++) {
    projects.push((await call('projects', { name: `Project ${i}`, description: 'A sentence on it.' })).id);
  }
  const [readFrom, createIn] = [`projects/${projects[0]}`, `projects/${projects[1]}`];
  const content = text(READ_BODY_BYTES);
  const { id, etag } = await call(`${readFrom}/documents`, { title: 'To be read', slug: 'read', content });
  const get = (path: string, headers?: string) => constant(request(session, 'GET', path, headers));
  const document = `${readFrom}/documents/${id}`;
  return [
    { name: 'list of 100 projects', status: 200, next: get('projects') },
    { name: 'one project', status: 200, next: get(readFrom) },
    { name: "a document's metadata (304)", status: 304, next: get(document, `If-None-Match: ${etag}\r\n`) },
    { name: 'a document with 8 KiB', status: 200, next: get(document) },
    { name: 'create a document of 2 KiB', status: 201, next: creations(session, `${createIn}/documents`) },
  ];
}

/** Each with a slug of its own; made from a template, to be cheap. */
function creations(session: string, path: string): () => Buffer {
  const slug = (n: number) => `document-${String(n).padStart(9, '0')}`;
  const body = JSON.stringify({ title: 'Made', slug: slug(0), content: text(CREATED_BODY_BYTES) });
  const template = request(session, 'POST', path, 'Content-Type: application/json\r\n', body);
  const position = template.indexOf(slug(0));
  let created = 0;
  return () => {
    const bytes = Buffer.from(template);
    bytes.write(slug(++created), position);
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
  return 'Some markdown, *of a kind*, in a line. \n'.repeat(Math.ceil(bytes / 40)).slice(0, bytes);
}
