import type { MinioObjectStore } from '../../src/storage/minio.object-store.js';
import type { Client } from './client.js';
import type { Query } from './database.js';
import type { DocumentWriter } from './document-actors.js';
import type { TrackedDocument } from './documents.js';

interface Listed {
  readonly id: number;
  readonly slug: string;
}

/** Checks that both replicas have every acknowledged document and no other one. */
export async function checkDocuments(client: Client, writers: readonly DocumentWriter[]): Promise<void> {
  for (const writer of writers) {
    const bearer = writer.owner.session;
    const list = { kind: 'final list', method: 'GET', path: writer.address, bearer, expect: [200] } as const;
    const { documents } = (await client.insist(list)).body as { documents: Listed[] };
    for (const listed of documents) {
      const document = writer.documents.find(({ name }) => name === listed.slug);
      client.ledger.check('every document was created by an actor', !!document, listed.slug);
      if (document) document.id ??= listed.id; // created, although the response was lost
    }
    for (const document of writer.documents) await checkOnBoth(client, document);
  }
}

async function checkOnBoth(client: Client, document: TrackedDocument): Promise<void> {
  if (document.id === undefined) return;
  const { path, session: bearer, known } = document;
  const expect = [200, 404];
  const responses: string[] = [];
  for (const replica of client.replicas) {
    const response = await client.send({ kind: 'final read', method: 'GET', path, bearer, replica, expect });
    if (!response) return; // the client has added a finding
    document.check(client.ledger, known, response);
    responses.push(response.text);
  }
  client.ledger.check('both replicas return the same document', responses[0] === responses[1], document.name);
}

/** Checks that every document has its body, and every other body is in the deletion queue. */
export async function checkBodies(client: Client, bodies: MinioObjectStore, query: Query): Promise<void> {
  const rows = await query<{ key: string }>(`SELECT 'documents/' || id AS key FROM documents`);
  const queued = await query<{ key: string }>('SELECT key FROM object_deletions');
  const documents = new Set(rows.map(({ key }) => key));
  const known = new Set([...documents, ...queued.map(({ key }) => key)]);
  const stored = new Set<string>();
  for await (const key of bodies.list('documents/')) stored.add(key);
  for (const key of stored) client.ledger.check('no body is orphaned', known.has(key), key);
  for (const key of documents) client.ledger.check('every document has its body', stored.has(key), key);
}
