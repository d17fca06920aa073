import { Injectable } from '@nestjs/common';
import type { OnModuleInit } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Any, Repository } from 'typeorm';
import type { EntityManager } from 'typeorm';
import type { SessionUser } from '../auth/session-user.js';
import { NotFound } from '../common/api/domain-error.js';
import { tokenHash } from '../common/crypto/secret-token.js';
import { Invalidations } from '../database/invalidation/invalidations.js';
import { Transactions } from '../database/transactions/transactions.js';
import { AuditTrail } from '../organizations/audit/audit-trail.js';
import { MemberLeaving, OrganizationDeleting } from '../organizations/membership-events.js';
import { lockRole, lockOrganizationShared } from '../organizations/scope/organization-locks.js';
import type { OwnerScope } from '../organizations/scope/owner-scope.js';
import type { MintKeyDto, RenameKeyDto } from './dto/key.requests.js';
import type { KeyResponse, CreatedKeyResponse } from './dto/key.response.js';
import { limitsAnything, NO_LIMITS } from '../limits/rules/limit-set.js';
import { assertBelowKeyCaps, lockKeyCaps } from './key-caps.js';
import type { KeyOwner } from './key-caps.js';
import { newKeySecret, visibleParts } from './key-format.js';
import { listStatement, SELECT_KEY } from './key-rows.js';
import type { KeyFilter } from './key-rows.js';
import { ScopeImmutable } from './keys.errors.js';
import { ProxyKey } from './proxy-key.entity.js';
import type { KeyDevice, RevokedReason } from './proxy-key.entity.js';

const DEFAULT_NAME = 'API key';

/** Topic of the invalidations that remove revoked keys from caches. */
export const KEYS_REVOKED = 'keys-revoked';

/** Minting, listing, renaming and revocation of keys. */
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

  /** Lists keys in the order in which they were minted. */
  list(filter: KeyFilter, includeRevoked: boolean): Promise<KeyResponse[]> {
    return this.keys.query<KeyResponse[]>(...listStatement(filter, includeRevoked));
  }

  /** Checks the caps before a key is promised. A concurrent mint can still reach a cap first. @throws TooManyKeys */
  assertCanMint(owner: KeyOwner): Promise<void> {
    return assertBelowKeyCaps(owner, this.keys.manager);
  }

  /** Finds the names of keys by id, including revoked keys. */
  async findNames(ids: readonly number[]): Promise<Map<number, string>> {
    const keys = await this.keys.find({ select: { id: true, name: true }, where: { id: Any(ids) } });
    return new Map(keys.map(({ id, name }) => [id, name]));
  }

  /** @throws OrganizationNotFound if the caller is no longer a member @throws TooManyKeys */
  mint(scope: OwnerScope, fields: MintKeyDto): Promise<CreatedKeyResponse> {
    return this.transactions.run((transaction) => this.mintIn(scope, fields, null, transaction));
  }

  /**
   * Mints a key in the caller's transaction.
   * @param device device that requested the key; null for the dashboard
   * @throws OrganizationNotFound if the user is no longer a member
   * @throws TooManyKeys before anything is written
   */
  async mintIn(
    { organizationId, user }: Pick<OwnerScope, 'organizationId' | 'user'>,
    { name, expires_at, limits = NO_LIMITS }: MintKeyDto,
    device: KeyDevice | null,
    transaction: EntityManager,
  ): Promise<CreatedKeyResponse> {
    await lockRole(organizationId, user.id, transaction);
    const owner = { organizationId, userId: user.id };
    await lockKeyCaps(owner, transaction);
    await assertBelowKeyCaps(owner, transaction);
    const secret = newKeySecret();
    const key = transaction.create(ProxyKey, {
      ...owner,
      name: name ?? DEFAULT_NAME,
      expiresAt: toUtc(expires_at),
      limits: limitsAnything(limits) ? limits : null,
      secretSha256: tokenHash(secret),
      ...visibleParts(secret),
      source: device ? 'device' : 'dashboard',
      device,
    });
    await transaction.insert(ProxyKey, key);
    const target = { type: 'key', id: key.id, name: key.name, user_id: user.id };
    const details = { source: key.source };
    await this.audit.record(
      { organizationId, actor: user, action: 'key.minted', target, details },
      transaction,
    );
    const [row] = await transaction.query<KeyResponse[]>(SELECT_KEY, [key.id]);
    return { ...row!, api_key: secret };
  }

  /**
   * @throws NotFound
   * @throws ScopeImmutable
   * @throws OrganizationNotFound if the holder is no longer a member
   */
  rename(user: SessionUser, id: number, { name, organization_id }: RenameKeyDto): Promise<KeyResponse> {
    return this.transactions.run(async (transaction) => {
      const found = await transaction.findOneBy(ProxyKey, { id, userId: user.id });
      if (!found) throw new NotFound();
      const { organizationId } = found;
      if (organization_id !== undefined && organization_id !== organizationId) throw new ScopeImmutable();
      await lockRole(organizationId, user.id, transaction);
      if (name !== undefined) await this.renameIn(user, id, name, transaction);
      const [row] = await transaction.query<KeyResponse[]>(SELECT_KEY, [id]);
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
   * Revokes a key; leaves a revoked key unchanged. Afterwards no replica serves the key.
   * @param filter has no user only if the caller is an admin
   * @throws NotFound if the filter excludes the key
   * @throws OrganizationNotFound if a former admin is no longer a member
   */
  revoke(user: SessionUser, id: number, filter: KeyFilter): Promise<void> {
    return this.transactions.run(async (transaction) => {
      const found = await transaction.findOneBy(ProxyKey, { id, ...filter });
      if (!found) throw new NotFound();
      const current = await lockedFilter(user, found.organizationId, filter, transaction);
      const key = await transaction.findOne(ProxyKey, {
        where: { id, ...current },
        lock: { mode: 'pessimistic_write' },
      });
      if (!key) throw new NotFound();
      await this.invalidations.publish({ topic: KEYS_REVOKED, id }, transaction);
      if (key.revokedAt !== null) return; // its revocation may still wait for the replicas
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
 * Locks the organization before the key, as all transactions do.
 * @returns the filter for the caller's current role
 */
async function lockedFilter(
  user: SessionUser,
  organizationId: number,
  filter: KeyFilter,
  transaction: EntityManager,
): Promise<KeyFilter> {
  if (filter.userId !== undefined) {
    await lockOrganizationShared(organizationId, transaction);
    return filter;
  }
  const role = await lockRole(organizationId, user.id, transaction);
  return role === 'admin' ? filter : { ...filter, userId: user.id };
}

/** Converts a time to UTC, because PostgreSQL accepts fewer time zones than ISO 8601. */
function toUtc(time: string | null | undefined): string | null {
  return time ? new Date(time).toISOString() : null;
}
