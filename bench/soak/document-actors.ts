import type { Client } from './client.js';
import { TrackedDocument } from './documents.js';
import type { Owner } from './owners.js';

const MOST = 12;
const FEWEST = 3;
const STRANGER_SHARE = 0.2;

/** Writes the documents of one project, one request after the other. */
export class DocumentWriter {
  /** Also those that are deleted, and those of which it is not known whether they exist. */
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
      ...{ kind: 'set up', method: 'POST', path: `${base}/projects`, bearer: session, expect: [201] },
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
    const dice = Math.random();
    if (live.length < FEWEST || (live.length < MOST && dice < 0.15)) return this.write();
    const document = pick(live)!;
    return dice > 0.9 ? this.delete(document) : this.update(document);
  }

  private async write(): Promise<void> {
    const { parent, owner, documents, client } = this;
    const document = new TrackedDocument(parent, owner.session, `${owner.label}-${documents.length}`);
    documents.push(document);
    const { known } = document;
    const answer = await client.send({
      ...{ kind: 'create a document', method: 'POST', path: parent, bearer: owner.session, expect: [201] },
      body: document.version(0),
    });
    if (!answer) return;
    document.id = answer.body.id;
    document.check(client.ledger, known, answer);
  }

  private async update(document: TrackedDocument): Promise<void> {
    const { client } = this;
    const version = ++document.attempted;
    const answer = await client.send({
      ...{ kind: 'update a document', method: 'PUT', path: document.path, expect: [200] },
      ...{ bearer: document.session, body: document.version(version) },
    });
    if (!answer) return;
    document.acknowledged = version;
    document.check(client.ledger, document.known, answer);
  }

  private async delete(document: TrackedDocument): Promise<void> {
    document.deletion = 'attempted';
    const { path, session: bearer } = document;
    const call = { kind: 'delete a document', method: 'DELETE', path, bearer, expect: [204] } as const;
    await this.client.insist(call, [404]);
    document.deletion = 'done';
  }
}

/** Reads what others write, now and then as somebody who must not. */
export async function readDocument(
  client: Client,
  writers: readonly DocumentWriter[],
  owners: readonly Owner[],
): Promise<void> {
  const writer = pick(writers)!;
  const document = pick(writer.documents.filter(({ id }) => id !== undefined).slice(-2 * MOST));
  if (!document) return;
  const { known, path } = document;
  const stranger = Math.random() < STRANGER_SHARE && pick(owners.filter((owner) => owner !== writer.owner));
  const bearer = stranger ? stranger.session : document.session;
  const expect = stranger ? [404] : [200, 404];
  const kind = stranger ? "read a stranger's document" : 'read a document';
  const answer = await client.send({ kind, method: 'GET', path, bearer, expect });
  if (answer && !stranger) document.check(client.ledger, known, answer);
}

export function pick<T>(some: readonly T[]): T | undefined {
  return some[Math.floor(Math.random() * some.length)];
}
