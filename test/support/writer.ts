import type supertest from 'supertest';
import type { Service } from './service.js';

interface Version {
  readonly title: string;
  readonly slug: string;
  readonly content: string;
}

/** Undefined: there is no document. */
type State = Version | undefined;

interface Reply {
  readonly status: number;
  readonly body: unknown;
}

const INTERNAL_ERROR = { error: { message: 'internal error' } };
const LONGEST_CONTENT = 20_000;

/**
 * Writes documents of its own at random, one after the other, and knows at every moment what may be there: what was
 * acknowledged for certain, and what failed with 500, or without a response, as a whole or not.
 */
export class Writer {
  acknowledged = 0;
  failed = 0;
  private count = 0;
  private agent: ReturnType<typeof supertest.agent>;
  private url: string;
  private readonly documents = new Map<number, State[]>();
  /** Creations of which it is not known whether they succeeded, by slug. */
  private readonly doubtful = new Map<string, Version>();

  constructor(private readonly user: string) {}

  /** Goes on at this service; makes the project at the first one. */
  async connect(service: Pick<Service, 'as'>): Promise<void> {
    this.agent = await service.as(this.user);
    this.url ??= await this.makeProject();
  }

  /** Ends when the service does not respond any more. */
  async writeUntilGone(): Promise<void> {
    for (;;) if ((await this.writeOnce()) === undefined) return;
  }

  async writeWhile(condition: () => boolean): Promise<void> {
    while (condition()) await this.writeOnce();
  }

  /** The status of the response, if there was one. */
  async writeOnce(): Promise<number | undefined> {
    const ids = [...this.documents.keys()];
    const id = ids[Math.floor(Math.random() * ids.length)];
    const kind = Math.random();
    if (id === undefined || ids.length < 3 || kind < 0.15) return this.create();
    if (kind < 0.25) return this.delete(id);
    if (kind < 0.4) return this.read(id);
    return this.update(id);
  }

  /** Everything is as it may be; from now on it is known what is there. */
  async verify(): Promise<void> {
    const { documents } = (await this.agent.get(`${this.url}/documents`).expect(200)).body;
    for (const [id, states] of this.documents) {
      const { status, body } = await this.agent.get(`${this.url}/documents/${id}`);
      expect([200, 404]).toContain(status);
      this.settle(id, states, status === 200 ? versionOf(body) : undefined);
    }
    for (const { id, slug } of documents as { id: number; slug: string }[]) {
      if (this.documents.has(id)) continue;
      const { body } = await this.agent.get(`${this.url}/documents/${id}`).expect(200);
      expect(versionOf(body)).toEqual(this.doubtful.get(slug));
      this.documents.set(id, [versionOf(body)]);
    }
    this.doubtful.clear();
  }

  private async makeProject(): Promise<string> {
    const { body } = await this.agent.post('/me/projects').send({ name: 'Work' }).expect(201);
    return `/me/projects/${body.id}`;
  }

  /** New values for some of a document's members, unlike any before. */
  private makeChange(): Partial<Version> {
    const { title, slug, content } = this.makeVersion();
    const changes = [{ title, slug, content }, { content }, { title }, { title, content }];
    return changes[Math.floor(Math.random() * changes.length)]!;
  }

  private makeVersion(): Version {
    const name = `${this.user}-${++this.count}`;
    const content = `${name} `.repeat((Math.random() * LONGEST_CONTENT) / name.length);
    return { title: name, slug: name, content };
  }

  private async create(): Promise<number | undefined> {
    const version = this.makeVersion();
    const reply = await this.send(() => this.agent.post(`${this.url}/documents`).send(version), [201]);
    if (!reply) {
      this.doubtful.set(version.slug, version);
      return undefined;
    }
    if (reply.status === 500) this.doubtful.set(version.slug, version);
    else this.settle((reply.body as { id: number }).id, [version], versionOf(reply.body));
    return reply.status;
  }

  /**
   * Replaces all of what may be several things: a change of some members would make twice as many of them whenever
   * it fails, and an outage has thousands of failures.
   */
  private update(id: number): Promise<number | undefined> {
    const states = this.documents.get(id)!;
    const change = states.length === 1 ? this.makeChange() : this.makeVersion();
    const after = { ...states[0], ...change } as Version;
    const apply = (state: State): State => state && after;
    return this.attempt(id, apply, (url) => this.agent.put(url).send(change));
  }

  private delete(id: number): Promise<number | undefined> {
    const remove = (): State => undefined;
    return this.attempt(id, remove, (url) => this.agent.delete(url));
  }

  /** Reads a document. Its version may change once more while the outcome of a failed write is unknown. */
  private async read(id: number): Promise<number | undefined> {
    const reply = await this.send(() => this.agent.get(`${this.url}/documents/${id}`), [200, 404]);
    if (reply && reply.status !== 500) {
      expect(this.documents.get(id)).toContainEqual(reply.status === 404 ? undefined : versionOf(reply.body));
    }
    return reply?.status;
  }

  private async attempt(
    id: number,
    apply: (state: State) => State,
    request: (url: string) => PromiseLike<Reply>,
  ): Promise<number | undefined> {
    const before = this.documents.get(id)!;
    const after = before.map(apply);
    const reply = await this.send(() => request(`${this.url}/documents/${id}`), [200, 204, 404]);
    if (!reply || reply.status === 500) this.documents.set(id, [...new Set([...before, ...after])]);
    else if (reply.status === 200) this.settle(id, after, versionOf(reply.body));
    else this.settle(id, reply.status === 404 ? before : after, undefined);
    return reply?.status;
  }

  private async send(request: () => PromiseLike<Reply>, statuses: number[]): Promise<Reply | undefined> {
    const reply = await Promise.resolve(request()).catch(() => undefined); // the connection was cut
    if (reply?.status === 500) {
      this.failed++;
      expect(reply.body).toEqual(INTERNAL_ERROR);
    } else if (reply) {
      this.acknowledged++;
      expect(statuses).toContain(reply.status);
    }
    return reply;
  }

  /** Replaces the possible states of a document by the known one. */
  private settle(id: number, states: readonly State[], state: State): void {
    expect(states).toContainEqual(state);
    if (state) this.documents.set(id, [state]);
    else this.documents.delete(id);
  }
}

function versionOf(body: unknown): Version {
  const { title, slug, content } = body as Version;
  return { title, slug, content };
}
