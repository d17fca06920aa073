import { randomUUID } from 'node:crypto';
import type { ApiResponse, Client } from './client.js';
import type { Owner } from './owners.js';
import { STREAM_EVENTS } from './provider.js';
import type { Replica } from './replica.js';
import type { UsageBook } from './usage-book.js';

export interface Key {
  readonly secret: string;
  readonly owner: Owner;
}

/** Sends requests with proxy keys and notes the usage records that they must create. */
export class KeyUser {
  /** Keys whose revocation was acknowledged. */
  readonly revoked: Key[] = [];

  constructor(
    readonly client: Client,
    private readonly book: UsageBook,
  ) {}

  /** Creates a key for the owner's pool, in the name of the user of the session. */
  async createKey(owner: Owner, session = owner.session): Promise<Key & { readonly id: number }> {
    const { body } = await this.client.insist({
      kind: 'create a key',
      method: 'POST',
      path: `${owner.base}/keys`,
      bearer: session,
      expect: [201],
    });
    return { secret: body.api_key, owner, id: body.id };
  }

  /** Sends a request; the response must come from the owner's upstream. */
  async use(key: Key, stream = false, replica?: Replica): Promise<void> {
    const { id, response } = await this.call(
      stream ? 'stream' : 'proxied request',
      key,
      stream,
      [200],
      replica,
    );
    if (response) this.checkServed(key, id, response, stream);
  }

  /** Sends a request during a revocation. It may be served or rejected, but never by the upstream of another owner. */
  async useDuringRevocation(key: Key, replica?: Replica): Promise<void> {
    const { id, response } = await this.call('request during a revocation', key, false, [200, 401], replica);
    if (response?.status === 200) this.checkServed(key, id, response, false);
  }

  /** Checks that no replica serves a key after its revocation was acknowledged. */
  async expectRejected(key: Key): Promise<void> {
    for (const replica of this.client.replicas) {
      const { response } = await this.call('request with a revoked key', key, false, [401, 200], replica);
      if (!response) continue;
      const served = response.status === 200;
      const where = `${key.owner.label} at replica ${replica.name}`;
      this.client.ledger.check('no revoked key is served', !served, where);
    }
  }

  async revoke(key: Key & { readonly id: number }, session = key.owner.session): Promise<void> {
    await this.client.insist({
      kind: 'revoke a key',
      method: 'DELETE',
      path: `/me/keys/${key.id}`,
      bearer: session,
      expect: [204],
    });
    this.revoked.push(key);
  }

  private async call(
    kind: string,
    key: Key,
    stream: boolean,
    expect: readonly number[],
    replica?: Replica,
  ): Promise<{ id: string; response?: ApiResponse }> {
    const id = randomUUID();
    this.book.begin(id, key.owner.organizationId);
    const response = await this.client.send({
      kind,
      method: 'POST',
      path: '/v1/chat/completions',
      bearer: key.secret,
      replica,
      expect,
      headers: { 'x-request-id': id },
      body: { model: 'soak', user: id, stream, messages: [] },
    });
    if (response) this.book.end(id, response.status);
    return { id, response };
  }

  private checkServed({ owner }: Key, id: string, { text, body }: ApiResponse, stream: boolean): void {
    const own = `owner-${owner.label} ${id}`;
    const events = Array.from({ length: STREAM_EVENTS }, (_, i) => `${own} ${i}`);
    const isRight = stream
      ? parseContents(text).join() === events.join() && text.endsWith('data: [DONE]\n\n')
      : body?.choices[0].message.content === own;
    const rule = "a response is complete and comes from the upstream of the key's owner";
    this.client.ledger.check(rule, isRight, `${own}: ${text.slice(0, 300)}`);
  }
}

function parseContents(stream: string): string[] {
  return [...stream.matchAll(/"content":"([^"]*)"/g)].map(([, content]) => content!);
}
