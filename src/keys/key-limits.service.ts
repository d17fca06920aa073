import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import type { SessionUser } from '../auth/session-user.js';
import { NotFound } from '../common/api/domain-error.js';
import { Invalidations } from '../database/invalidation/invalidations.js';
import { Transactions } from '../database/transactions/transactions.js';
import { scopeOf } from '../limits/rules/applied-limits.js';
import { LimitStatus } from '../limits/limit-status.js';
import { limitsAnything, NO_LIMITS } from '../limits/rules/limit-set.js';
import type { LimitSet } from '../limits/rules/limit-set.js';
import type { LimitsResponse } from '../limits/dto/limits.dto.js';
import { LIMITS_CHANGED, LimitsService } from '../limits/limits.service.js';
import { assertRole } from '../organizations/model/membership-rules.js';
import { lockRole } from '../organizations/scope/organization-locks.js';
import { ScopesService } from '../organizations/scope/scopes.service.js';
import type { KeyFilter } from './key-rows.js';
import { ProxyKey } from './proxy-key.entity.js';

/** Completes "only admins can ...". */
export const CHANGE_KEY_LIMITS = 'change the limits of keys';

/** Limits of single keys. */
@Injectable()
export class KeyLimitsService {
  constructor(
    @InjectRepository(ProxyKey) private readonly keys: Repository<ProxyKey>,
    private readonly scopes: ScopesService,
    private readonly transactions: Transactions,
    private readonly invalidations: Invalidations,
    private readonly limits: LimitsService,
    private readonly status: LimitStatus,
  ) {}

  /** @throws NotFound if the filter excludes the key */
  async get(id: number, filter: KeyFilter): Promise<LimitsResponse> {
    const key = await this.keys.findOneBy({ id, ...filter });
    if (!key) throw new NotFound();
    return this.withStatus(key, key.limits ?? NO_LIMITS);
  }

  /**
   * Checks that the holder of a key may change its limits. A user without such a key passes: {@link replace} throws
   * `NotFound`, after the body was checked.
   * @throws OrganizationNotFound @throws AdminsOnly
   */
  async assertMayChange(user: SessionUser, id: number): Promise<void> {
    const key = await this.keys.findOneBy({ id, userId: user.id });
    if (!key) return;
    const { role } = await this.scopes.findScope(user, key.organizationId);
    assertRole(role, CHANGE_KEY_LIMITS);
  }

  /**
   * Replaces the limits of a key.
   * @throws NotFound if the filter excludes the key @throws OrganizationNotFound @throws AdminsOnly
   */
  async replace(user: SessionUser, id: number, filter: KeyFilter, limits: LimitSet): Promise<LimitsResponse> {
    const found = await this.keys.findOneBy({ id, ...filter });
    if (!found) throw new NotFound();
    const { organizationId } = found;
    await this.transactions.run(async (transaction) => {
      assertRole(await lockRole(organizationId, user.id, transaction), CHANGE_KEY_LIMITS);
      const lock = { mode: 'pessimistic_write' } as const;
      const key = (await transaction.findOne(ProxyKey, { where: { id }, lock }))!;
      await transaction.update(ProxyKey, { id }, { limits: limitsAnything(limits) ? limits : null });
      const target = { type: 'key', id, name: key.name, user_id: key.userId };
      const values = [key.limits ?? NO_LIMITS, limits] as const;
      await this.limits.recordChange({ organizationId, user }, 'key', target, values, transaction);
      await this.invalidations.publish({ topic: LIMITS_CHANGED, id }, transaction);
    });
    return this.withStatus(found, limits);
  }

  private async withStatus(key: ProxyKey, limits: LimitSet): Promise<LimitsResponse> {
    return { limits, status: await this.status.read(scopeOf('key', key), limits) };
  }
}
