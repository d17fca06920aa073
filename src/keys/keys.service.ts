import { Injectable } from '@nestjs/common';
import type { OnModuleInit } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Any, Repository } from 'typeorm';
import type { EntityManager } from 'typeorm';
import type { SessionUser } from '../auth/session-user.js';
import { NotFound } from '../common/domain-error.js';
import { tokenHash } from '../common/secret-token.js';
import { Invalidations } from '../database/invalidations.js';
import { Transactions } from '../database/transactions.js';
import { AuditTrail } from '../organizations/audit-trail.js';
import { MemberLeaving, OrganizationDeleting } from '../organizations/membership-events.js';
import { holdMembership, holdOrganization } from '../organizations/organization-lock.js';
import type { OwnerScope } from '../organizations/owner-scope.js';
import type { MintKeyDto, RenameKeyDto } from './dto/key.requests.js';
import type { KeyResponse, NewKeyResponse } from './dto/key.response.js';
import { newKeySecret, shownParts } from './key-format.js';
import { ScopeImmutable } from './keys.errors.js';
import { ProxyKey } from './proxy-key.entity.js';
import type { KeyDevice, RevokedReason } from './proxy-key.entity.js';

const DEFAULT_NAME = 'API key';

const SELECT = `
  SELECT k.id, k.name, k.organization_id, k.user_id, u.email AS user_email, k.prefix, k.last4, k.source, k.device,
    k.created_at, k.last_used_at, k.expires_at, k.revoked_at, k.revoked_reason
  FROM proxy_keys k JOIN users u ON u.id = k.user_id`;

/** Which keys a request sees and may end: those of a user, of an organization, or of a user within one. */
interface KeyFilter {
  readonly userId?: string;
  readonly organizationId?: number;
}

/** What revocations are told by, so that caches forget the keys. */
export const KEYS_REVOKED = 'keys-revoked';

/** The keys that people mint, look at and revoke. */
@Injectable()
export class KeysService implements OnModuleInit {
  constructor(
    @InjectRepository(ProxyKey) private readonly keys: Repository<ProxyKey>,
    private readonly transactions: Transactions,
    private readonly invalidations: Invalidations,
    private readonly audit: AuditTrail,
  ) {}

  onModuleInit(): void {
    this.transactions.on(MemberLeaving, async (event, transaction) => {
      const { organizationId, userId, reason } = event;
      event.revokedKeys += await this.revokeAll({ organizationId, userId }, `member_${reason}`, transaction);
    });
    this.transactions.on(OrganizationDeleting, async (event, transaction) => {
      const { organizationId } = event;
      event.revokedKeys += await this.revokeAll({ organizationId }, 'organization_deleted', transaction);
    });
  }

  /** In order of minting. */
  list({ userId, organizationId }: KeyFilter, includeRevoked: boolean): Promise<KeyResponse[]> {
    return this.keys.query<KeyResponse[]>(
      `${SELECT} WHERE ($1::text IS NULL OR k.user_id = $1) AND ($2::bigint IS NULL OR k.organization_id = $2)
       AND ($3 OR k.revoked_at IS NULL) ORDER BY k.id`,
      [userId ?? null, organizationId ?? null, includeRevoked],
    );
  }

  /** What the keys with these ids are called, revoked ones too. */
  async names(ids: readonly number[]): Promise<Map<number, string>> {
    const keys = await this.keys.find({ select: { id: true, name: true }, where: { id: Any(ids) } });
    return new Map(keys.map(({ id, name }) => [id, name]));
  }

  /** @throws OrganizationNotFound when the caller is not a member any more */
  mint(scope: OwnerScope, fields: MintKeyDto): Promise<NewKeyResponse> {
    return this.transactions.run((transaction) => this.mintIn(scope, fields, null, transaction));
  }

  /**
   * Mints in the caller's transaction.
   * @param device what asked for it; null for the dashboard
   * @throws OrganizationNotFound when the user is not a member any more
   */
  async mintIn(
    { organizationId, user }: Pick<OwnerScope, 'organizationId' | 'user'>,
    { name, expires_at }: MintKeyDto,
    device: KeyDevice | null,
    transaction: EntityManager,
  ): Promise<NewKeyResponse> {
    await holdMembership(organizationId, user.id, transaction);
    const secret = newKeySecret();
    const key = transaction.create(ProxyKey, {
      ...{ organizationId, userId: user.id, name: name ?? DEFAULT_NAME, expiresAt: instant(expires_at) },
      ...{ secretSha256: tokenHash(secret), ...shownParts(secret) },
      ...{ source: device ? 'device' : 'dashboard', device },
    });
    await transaction.insert(ProxyKey, key);
    const target = { type: 'key', id: key.id, name: key.name, user_id: user.id };
    const details = { source: key.source };
    await this.audit.record(
      { organizationId, actor: user, action: 'key.minted', target, details },
      transaction,
    );
    const [row] = await transaction.query<KeyResponse[]>(`${SELECT} WHERE k.id = $1`, [key.id]);
    return { ...row!, api_key: secret };
  }

  /**
   * @throws NotFound
   * @throws ScopeImmutable
   * @throws OrganizationNotFound when the holder is not a member any more
   */
  rename(user: SessionUser, id: number, { name, organization_id }: RenameKeyDto): Promise<KeyResponse> {
    return this.transactions.run(async (transaction) => {
      const found = await transaction.findOneBy(ProxyKey, { id, userId: user.id });
      if (!found) throw new NotFound();
      const { organizationId } = found;
      if (organization_id !== undefined && organization_id !== organizationId) throw new ScopeImmutable();
      await holdMembership(organizationId, user.id, transaction);
      if (name !== undefined) await this.renameIn(user, id, name, transaction);
      const [row] = await transaction.query<KeyResponse[]>(`${SELECT} WHERE k.id = $1`, [id]);
      return row!;
    });
  }

  private async renameIn(
    user: SessionUser,
    id: number,
    name: string,
    transaction: EntityManager,
  ): Promise<void> {
    const lock = { mode: 'pessimistic_write' } as const;
    const { organizationId, name: before } = (await transaction.findOne(ProxyKey, { where: { id }, lock }))!;
    if (name === before) return;
    await transaction.update(ProxyKey, { id }, { name });
    const target = { type: 'key', id, name, user_id: user.id };
    const details = { from: before, to: name };
    await this.audit.record(
      { organizationId, actor: user, action: 'key.renamed', target, details },
      transaction,
    );
  }

  /**
   * Ends a key; nothing happens to one that is revoked already. When this returns, no replica serves it.
   * @param filter without a user for admins alone
   * @throws NotFound when there is no such key in the filter
   * @throws OrganizationNotFound when who was an admin is not a member any more
   */
  revoke(user: SessionUser, id: number, filter: KeyFilter): Promise<void> {
    return this.transactions.run(async (transaction) => {
      const found = await transaction.findOneBy(ProxyKey, { id, ...filter });
      if (!found) throw new NotFound();
      const view = await heldView(user, found.organizationId, filter, transaction);
      const key = await transaction.findOne(ProxyKey, {
        where: { id, ...view },
        lock: { mode: 'pessimistic_write' },
      });
      if (!key) throw new NotFound();
      await this.invalidations.publish({ topic: KEYS_REVOKED, id }, transaction);
      if (key.revokedAt !== null) return; // by somebody who may still be waiting for the replicas
      const revokedReason: RevokedReason = key.userId === user.id ? 'revoked' : 'revoked_by_admin';
      await transaction.update(ProxyKey, { id }, { revokedAt: () => 'clock_timestamp()', revokedReason });
      const { organizationId, name, userId } = key;
      const target = { type: 'key', id, name, user_id: userId };
      await this.audit.record({ organizationId, actor: user, action: 'key.revoked', target }, transaction);
    });
  }

  private async revokeAll(
    { organizationId, userId }: { organizationId: number; userId?: string },
    reason: RevokedReason,
    transaction: EntityManager,
  ): Promise<number> {
    const [, revoked] = await transaction.query<[unknown[], number]>(
      `UPDATE proxy_keys SET revoked_at = clock_timestamp(), revoked_reason = $3
       WHERE id IN (
         SELECT id FROM proxy_keys
         WHERE organization_id = $1 AND ($2::text IS NULL OR user_id = $2) AND revoked_at IS NULL
         ORDER BY id FOR NO KEY UPDATE)`,
      [organizationId, userId ?? null, reason],
    );
    await this.invalidations.publish({ topic: KEYS_REVOKED, organizationId, userId }, transaction);
    return revoked;
  }
}

/**
 * Holds the organization, before the key, as everybody does.
 * @returns the filter as it is for the caller now, who may have been an admin
 */
async function heldView(
  user: SessionUser,
  organizationId: number,
  filter: KeyFilter,
  transaction: EntityManager,
): Promise<KeyFilter> {
  if (filter.userId !== undefined) {
    await holdOrganization(organizationId, transaction);
    return filter;
  }
  const role = await holdMembership(organizationId, user.id, transaction);
  return role === 'admin' ? filter : { ...filter, userId: user.id };
}

/** In UTC: PostgreSQL knows fewer time zones than ISO 8601 can write. */
function instant(time: string | null | undefined): string | null {
  return time ? new Date(time).toISOString() : null;
}
