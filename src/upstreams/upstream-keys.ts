import { Injectable, Logger } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { MoreThan, Repository } from 'typeorm';
import { Encryption } from '../common/encryption.js';
import { messagesOf } from '../common/messages-of.js';
import { Transactions } from '../database/transactions.js';
import { Upstream } from './upstream.entity.js';

const HINT_CHARACTERS = 4;
const BATCH_SIZE = 100;

type Owned = Pick<Upstream, 'id' | 'organizationId'>;

/** The API keys of upstreams at rest: bound to owner and upstream, so that a copy in another row is of no use. */
@Injectable()
export class UpstreamKeys {
  private readonly logger = new Logger(UpstreamKeys.name);

  constructor(
    private readonly encryption: Encryption,
    @InjectRepository(Upstream) private readonly upstreams: Repository<Upstream>,
    private readonly transactions: Transactions,
  ) {}

  /** The columns that hold the key. */
  seal(upstream: Owned, apiKey: string): Pick<Upstream, 'apiKeyEncrypted' | 'apiKeyHint'> {
    return {
      apiKeyEncrypted: this.encryption.encrypt(apiKey, contextOf(upstream)),
      apiKeyHint: apiKey.slice(-HINT_CHARACTERS),
    };
  }

  /** The key; undefined, and a line in the log, when no encryption key fits or the value belongs elsewhere. */
  open(upstream: Owned & Pick<Upstream, 'apiKeyEncrypted'>): string | undefined {
    try {
      return this.encryption.decrypt(upstream.apiKeyEncrypted, contextOf(upstream));
    } catch (error) {
      const reason = messagesOf(error);
      this.logger.error({ upstreamId: upstream.id, reason }, 'an API key cannot be decrypted');
      return undefined;
    }
  }

  /**
   * Puts every key under the encryption key that encrypts today, whatever is changed meanwhile.
   * @returns how many were under another one
   * @throws Error that names those that no encryption key fits, when all others are done
   */
  async reencrypt(): Promise<number> {
    const lost: number[] = [];
    let count = 0;
    for (let last = 0; ;) {
      const batch = await this.upstreams.find({
        select: { id: true, apiKeyEncrypted: true },
        where: { id: MoreThan(last) },
        order: { id: 'ASC' },
        take: BATCH_SIZE,
      });
      for (const { id } of batch.filter(({ apiKeyEncrypted: key }) => !this.encryption.isCurrent(key))) {
        const outcome = await this.reencryptOne(id);
        if (outcome === 'done') count++;
        else if (outcome === 'lost') lost.push(id);
      }
      if (batch.length < BATCH_SIZE) break;
      last = batch.at(-1)!.id;
    }
    if (lost.length > 0)
      throw new Error(`no encryption key fits the API keys of upstreams ${lost.join(', ')}`);
    return count;
  }

  /** One row is locked at a time: who locks more than one could meet the deletion of their organization. */
  private reencryptOne(id: number): Promise<'done' | 'nothing to do' | 'lost'> {
    return this.transactions.run(async (transaction) => {
      const upstream = await transaction.findOne(Upstream, {
        where: { id },
        lock: { mode: 'pessimistic_write' },
      });
      if (!upstream || this.encryption.isCurrent(upstream.apiKeyEncrypted)) return 'nothing to do';
      const apiKey = this.open(upstream);
      if (apiKey === undefined) return 'lost';
      const { apiKeyEncrypted } = this.seal(upstream, apiKey);
      await transaction.update(Upstream, { id }, { apiKeyEncrypted, updatedAt: () => 'updated_at' });
      return 'done';
    });
  }
}

function contextOf({ organizationId, id }: Owned): string {
  return `upstream:${organizationId}:${id}`;
}
