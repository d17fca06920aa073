import type { Client } from './client.js';
import { TrackedDocument } from './documents.js';
import type { Owner } from './owners.js';

const MAX_DOCUMENTS = 12;
const MIN_DOCUMENTS = 3;
const STRANGER_SHARE = 0.2;

/** Writes the documents of one project with one request at a time. */
export class DocumentWriter {
  /** All documents, including deleted ones and ones whose creation is unconfirmed. */
  readonly documents: TrackedDocument[] = [];
  private parent: string;

  private constructor(
    private readonly client: Client,
    readonly owner: Owner,
  ) {}

  static async create(client: Client, owner: Owner): Promise<DocumentWriter> {
    const writer = new DocumentWriter(client, owner);
    const { base, session, label } = owner;
    const { body } = await client.insist({
      kind: 'set up',
      method: 'POST',
      path: `${base}/projects`,
      bearer: session,
      expect: [201],
      body: { name: `Work of ${label}` },
    });
    writer.parent = `${base}/projects/${body.id}/documents`;
    return writer;
  }

  get address(): string {
    return this.parent;
  }

  get live(): TrackedDocument[] {
    return this.documents.filter(({ id, deletion }) => id !== undefined && deletion === 'none');
  }

  async step(): Promise<void> {
    const { live } = this;
    const random = Math.random();
    if (live.length < MIN_DOCUMENTS || (live.length < MAX_DOCUMENTS && random < 0.15)) return this.write();
    const document = pick(live)!;
    return random > 0.9 ? this.delete(document) : this.update(document);
  }

  private async write(): Promise<void> {
    const { parent, owner, documents, client } = this;
    const document = new TrackedDocument(parent, owner.session, `${owner.label}-${documents.length}`);
    documents.push(document);
    const { known } = document;
    const response = await client.send({
      kind: 'create a document',
      method: 'POST',
      path: parent,
      bearer: owner.session,
      expect: [201],
      body: document.version(0),
    });
    if (!response) return;
    document.id = response.body.id;
    document.check(client.ledger, known, response);
  }

  private async update(document: TrackedDocument): Promise<void> {
    const { client } = this;
    const version = ++document.attempted;
    const response = await client.send({
      kind: 'update a document',
      method: 'PUT',
      path: document.path,
      bearer: document.session,
      expect: [200],
      body: document.version(version),
    });
    if (!response) return;
    document.acknowledged = version;
    document.check(client.ledger, document.known, response);
  }

  private async delete(document: TrackedDocument): Promise<void> {
    document.deletion = 'attempted';
    const { path, session: bearer } = document;
    const call = { kind: 'delete a document', method: 'DELETE', path, bearer, expect: [204] } as const;
    await this.client.insist(call, [404]);
    document.deletion = 'done';
  }
}

/** Reads a document of any writer; a share of the reads uses the session of a stranger. */
export async function readDocument(
  client: Client,
  writers: readonly DocumentWriter[],
  owners: readonly Owner[],
): Promise<void> {
  const writer = pick(writers)!;
  const document = pick(writer.documents.filter(({ id }) => id !== undefined).slice(-2 * MAX_DOCUMENTS));
  if (!document) return;
  const { known, path } = document;
  const stranger = Math.random() < STRANGER_SHARE && pick(owners.filter((owner) => owner !== writer.owner));
  const bearer = stranger ? stranger.session : document.session;
  const expect = stranger ? [404] : [200, 404];
  const kind = stranger ? 'read a document as a stranger' : 'read a document';
  const response = await client.send({ kind, method: 'GET', path, bearer, expect });
  if (response && !stranger) document.check(client.ledger, known, response);
}

export function pick<T>(some: readonly T[]): T | undefined {
  return some[Math.floor(Math.random() * some.length)];
}
