import { Injectable, Logger } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { MoreThan, Repository } from 'typeorm';
import { Encryption } from '../common/crypto/encryption.js';
import { errorMessage } from '../common/logging/error-message.js';
import { Transactions } from '../database/transactions/transactions.js';
import { Upstream } from './upstream.entity.js';

const HINT_CHARACTERS = 4;
const BATCH_SIZE = 100;

type Owned = Pick<Upstream, 'id' | 'organizationId'>;

/** Encrypts the API keys of upstreams. A ciphertext is bound to owner and upstream, so a copy in another row is useless. */
@Injectable()
export class UpstreamKeys {
  private readonly logger = new Logger(UpstreamKeys.name);

  constructor(
    private readonly encryption: Encryption,
    @InjectRepository(Upstream) private readonly upstreams: Repository<Upstream>,
    private readonly transactions: Transactions,
  ) {}

  /** Encrypts an API key into the columns that store it. */
  encrypt(upstream: Owned, apiKey: string): Pick<Upstream, 'apiKeyEncrypted' | 'apiKeyHint'> {
    return {
      apiKeyEncrypted: this.encryption.encrypt(apiKey, encryptionContext(upstream)),
      apiKeyHint: apiKey.slice(-HINT_CHARACTERS),
    };
  }

  /** Decrypts an API key. Logs and returns undefined if no encryption key fits or the value belongs to another row. */
  decrypt(upstream: Owned & Pick<Upstream, 'apiKeyEncrypted'>): string | undefined {
    try {
      return this.encryption.decrypt(upstream.apiKeyEncrypted, encryptionContext(upstream));
    } catch (error) {
      const reason = errorMessage(error);
      this.logger.error({ upstreamId: upstream.id, reason }, 'an API key cannot be decrypted');
      return undefined;
    }
  }

  /**
   * Encrypts every API key with the current encryption key, also while upstreams change.
   * @returns the number of keys that had another encryption key
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

  /** Locks one row at a time: several locks could deadlock with the deletion of an organization. */
  private reencryptOne(id: number): Promise<'done' | 'nothing to do' | 'lost'> {
    return this.transactions.run(async (transaction) => {
      const upstream = await transaction.findOne(Upstream, {
        where: { id },
        lock: { mode: 'pessimistic_write' },
      });
      if (!upstream || this.encryption.isCurrent(upstream.apiKeyEncrypted)) return 'nothing to do';
      const apiKey = this.decrypt(upstream);
      if (apiKey === undefined) return 'lost';
      const { apiKeyEncrypted } = this.encrypt(upstream, apiKey);
      await transaction.update(Upstream, { id }, { apiKeyEncrypted, updatedAt: () => 'updated_at' });
      return 'done';
    });
  }
}

function encryptionContext({ organizationId, id }: Owned): string {
  return `upstream:${organizationId}:${id}`;
}
