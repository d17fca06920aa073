import { randomUUID } from 'node:crypto';
import type { Answer, Client } from './client.js';
import type { Owner } from './owners.js';
import { STREAM_EVENTS } from './provider.js';
import type { Replica } from './replica.js';
import type { UsageBook } from './usage-book.js';

export interface Key {
  readonly secret: string;
  readonly owner: Owner;
}

/** Uses keys at the proxy, and knows which records there must be for it. */
export class KeyUser {
  /** Every key whose revocation was acknowledged. */
  readonly revoked: Key[] = [];

  constructor(
    readonly client: Client,
    private readonly book: UsageBook,
  ) {}

  /** A key of the owner's pool, held by the user of the session; also its id. */
  async mint(owner: Owner, session = owner.session): Promise<Key & { readonly id: number }> {
    const { body } = await this.client.insist({
      ...{ kind: 'mint a key', method: 'POST', path: `${owner.base}/keys`, bearer: session, expect: [201] },
    });
    return { secret: body.api_key, owner, id: body.id };
  }

  /** The answer must come from the owner's upstream. */
  async use(key: Key, stream = false, replica?: Replica): Promise<void> {
    const { id, answer } = await this.call(
      stream ? 'stream' : 'proxied request',
      key,
      stream,
      [200],
      replica,
    );
    if (answer) this.checkServed(key, id, answer, stream);
  }

  /** For keys that are being revoked: served or refused, but never with another's upstream. */
  async tryOut(key: Key, replica?: Replica): Promise<void> {
    const { id, answer } = await this.call('request during a revocation', key, false, [200, 401], replica);
    if (answer?.status === 200) this.checkServed(key, id, answer, false);
  }

  /** Revocation was acknowledged: no replica serves it. */
  async expectRefused(key: Key): Promise<void> {
    for (const replica of this.client.replicas) {
      const { answer } = await this.call('request with a revoked key', key, false, [401, 200], replica);
      if (!answer) continue;
      const served = answer.status === 200;
      const where = `${key.owner.label} at replica ${replica.name}`;
      this.client.ledger.check('no revoked key is served', !served, where);
    }
  }

  async revoke(key: Key & { readonly id: number }, session = key.owner.session): Promise<void> {
    await this.client.insist({
      ...{ kind: 'revoke a key', method: 'DELETE', path: `/me/keys/${key.id}`, bearer: session },
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
  ): Promise<{ id: string; answer?: Answer }> {
    const id = randomUUID();
    this.book.began(id, key.owner.organizationId);
    const answer = await this.client.send({
      ...{ kind, method: 'POST', path: '/v1/chat/completions', bearer: key.secret, replica, expect },
      headers: { 'x-request-id': id },
      body: { model: 'soak', user: id, stream, messages: [] },
    });
    if (answer) this.book.ended(id, answer.status);
    return { id, answer };
  }

  private checkServed({ owner }: Key, id: string, { text, body }: Answer, stream: boolean): void {
    const own = `owner-${owner.label} ${id}`;
    const events = Array.from({ length: STREAM_EVENTS }, (_, i) => `${own} ${i}`);
    const holds = stream
      ? contentsOf(text).join() === events.join() && text.endsWith('data: [DONE]\n\n')
      : body?.choices[0].message.content === own;
    const what = "an answer is whole and by the key owner's upstream";
    this.client.ledger.check(what, holds, `${own}: ${text.slice(0, 300)}`);
  }
}

function contentsOf(stream: string): string[] {
  return [...stream.matchAll(/"content":"([^"]*)"/g)].map(([, content]) => content!);
}
