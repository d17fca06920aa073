import { Injectable } from '@nestjs/common';
import type { OnModuleInit } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { NotFound } from '../common/api/domain-error.js';
import { Invalidations } from '../database/invalidation/invalidations.js';
import { PreparedQueries } from '../database/connection/prepared-queries.js';
import { Transactions } from '../database/transactions/transactions.js';
import { UrgentQueries } from '../database/connection/urgent-queries.js';
import type { AuditDetails } from '../organizations/audit/audit-event.entity.js';
import { AuditTrail } from '../organizations/audit/audit-trail.js';
import { OrganizationDeleting } from '../organizations/membership-events.js';
import { lockAdminRole } from '../organizations/scope/organization-locks.js';
import type { OwnerScope } from '../organizations/scope/owner-scope.js';
import { AddressGuard, AddressRejected } from './network/address-guard.js';
import { normalizeBaseUrl, isSameOrigin } from './base-url.js';
import type { CreateUpstreamDto, UpdateUpstreamDto } from './dto/upstream.requests.js';
import type { UpstreamResponse, UpstreamCheckResponse } from './dto/upstream.response.js';
import { providerOf } from './provider.js';
import { auditChanges, auditDetails, applyUpdate } from './upstream-changes.js';
import { UpstreamKeys } from './upstream-keys.js';
import { UpstreamProbe } from './upstream-probe.js';
import { ModelRules } from './models/model-rules.js';
import { assertModelRulesFit, COLUMNS, insertRow, lockRow, nextId, updateRow } from './upstream-rows.js';
import { Upstream } from './upstream.entity.js';
import { ApiKeyRequired, BaseUrlRejected } from './upstreams.errors.js';

const DEFAULT_PRIORITY = 100;

const KEY_LOST: UpstreamCheckResponse = {
  ok: false,
  status: null,
  latency_ms: 0,
  message: 'the stored API key cannot be decrypted: send the API key again',
};

const LIST = {
  name: 'upstreams.list',
  text: `SELECT ${COLUMNS} FROM upstreams WHERE organization_id = $1 ORDER BY priority, id`,
};

const GET = {
  name: 'upstreams.get',
  text: `SELECT ${COLUMNS} FROM upstreams WHERE id = $1 AND organization_id = $2`,
};

/** Rows with the member names of the entity. */
const POOL = {
  name: 'upstreams.pool',
  text: `SELECT id, organization_id AS "organizationId", name, base_url AS "baseUrl", provider,
           api_key_encrypted AS "apiKeyEncrypted", models, failover_on AS "failoverOn"
         FROM upstreams WHERE organization_id = $1 AND enabled ORDER BY priority, id`,
};

type Routed = Pick<Upstream, 'id' | 'organizationId' | 'name' | 'baseUrl' | 'provider' | 'failoverOn'>;
type PoolRow = Routed & Pick<Upstream, 'apiKeyEncrypted' | 'models'>;

/** Upstream with its decrypted API key, which must not be logged. */
export type PoolUpstream = Routed & {
  readonly apiKey: string;
  /** Compiled once for all requests until the pool changes; null for every model. */
  readonly rules: ModelRules | null;
};

/** Topic of the invalidations that remove a changed pool from the caches of all replicas. */
export const POOL_CHANGED = 'pool-changed';

/** Notifies of a change of the pool of an organization in the transaction. */
export class UpstreamsChanged {
  constructor(readonly organizationId: number) {}
}

/** Upstreams of an owner. What belongs to another owner does not exist. */
@Injectable()
export class UpstreamsService implements OnModuleInit {
  constructor(
    private readonly keys: UpstreamKeys,
    private readonly guard: AddressGuard,
    private readonly prober: UpstreamProbe,
    private readonly queries: PreparedQueries,
    private readonly urgent: UrgentQueries,
    private readonly transactions: Transactions,
    private readonly invalidations: Invalidations,
    private readonly audit: AuditTrail,
  ) {}

  onModuleInit(): void {
    this.transactions.on(OrganizationDeleting, ({ organizationId }, transaction) =>
      this.transactions.emit(new UpstreamsChanged(organizationId), transaction),
    );
    this.transactions.on(UpstreamsChanged, ({ organizationId }, transaction) =>
      this.invalidations.publish({ topic: POOL_CHANGED, organizationId }, transaction),
    );
  }

  /** Lists the upstreams in the order in which they are tried. */
  list(scope: OwnerScope): Promise<UpstreamResponse[]> {
    return this.queries.rows<UpstreamResponse>(LIST, [scope.organizationId]);
  }

  /** @throws NotFound */
  async get(scope: OwnerScope, id: number): Promise<UpstreamResponse> {
    const [upstream] = await this.queries.rows<UpstreamResponse>(GET, [id, scope.organizationId]);
    if (!upstream) throw new NotFound();
    return upstream;
  }

  /** @throws BaseUrlRejected @throws NameTaken @throws TooManyUpstreams @throws ModelRulesTooLong @throws OrganizationNotFound @throws AdminsOnly */
  async create(scope: OwnerScope, fields: CreateUpstreamDto): Promise<UpstreamResponse> {
    const { name, api_key, priority = DEFAULT_PRIORITY, enabled = true } = fields;
    const { models = null, failover_on: failoverOn = [] } = fields;
    const baseUrl = await this.checkBaseUrl(scope, fields.base_url);
    const provider = fields.provider ?? providerOf(baseUrl);
    const providerChosen = fields.provider !== undefined;
    return this.change(scope, 'create', async (transaction) => {
      const owned = { id: await nextId(transaction), organizationId: scope.organizationId };
      const visible = { name, baseUrl, provider, priority, enabled, models, failoverOn };
      const upstream = { ...owned, ...visible, providerChosen, ...this.keys.encrypt(owned, api_key) };
      const response = await insertRow(upstream, transaction);
      if (models) await assertModelRulesFit(scope.organizationId, transaction);
      await this.record(scope, 'created', upstream, auditDetails(upstream), transaction);
      return response;
    });
  }

  /** @throws BaseUrlRejected @throws NotFound @throws ApiKeyRequired @throws NameTaken @throws ModelRulesTooLong @throws OrganizationNotFound @throws AdminsOnly */
  async update(scope: OwnerScope, id: number, fields: UpdateUpstreamDto): Promise<UpstreamResponse> {
    const { base_url, api_key } = fields;
    const baseUrl = base_url === undefined ? undefined : await this.checkBaseUrl(scope, base_url);
    return this.change(scope, 'update', async (transaction) => {
      const before = await lockRow(scope, id, transaction);
      const after = applyUpdate(before, fields, baseUrl);
      if (api_key === undefined && !isSameOrigin(before.baseUrl, after.baseUrl)) throw new ApiKeyRequired();
      const sealed = api_key === undefined ? {} : this.keys.encrypt(before, api_key);
      const changes = auditChanges(before, after, api_key !== undefined);
      if (Object.keys(changes).length > 0) await this.record(scope, 'updated', before, changes, transaction);
      const response = await updateRow(id, { ...after, ...sealed }, transaction);
      if (fields.models) await assertModelRulesFit(scope.organizationId, transaction);
      return response;
    });
  }

  /** @throws NotFound @throws OrganizationNotFound @throws AdminsOnly */
  delete(scope: OwnerScope, id: number): Promise<void> {
    return this.change(scope, 'delete', async (transaction) => {
      const upstream = await lockRow(scope, id, transaction);
      await transaction.delete(Upstream, { id });
      await this.record(scope, 'deleted', upstream, {}, transaction);
    });
  }

  /** Requests the model list of the upstream, enabled or not. @throws OrganizationNotFound @throws AdminsOnly @throws NotFound */
  async test(scope: OwnerScope, id: number): Promise<UpstreamCheckResponse> {
    const upstream = await this.transactions.run(async (transaction) => {
      await lockAdminRole(scope, 'test upstreams', transaction);
      return transaction.findOneBy(Upstream, { id, organizationId: scope.organizationId });
    });
    if (!upstream) throw new NotFound();
    const apiKey = this.keys.decrypt(upstream);
    return apiKey === undefined ? KEY_LOST : this.prober.probe(upstream, apiKey);
  }

  /** Finds the enabled upstreams in the order in which they are tried. Omits upstreams with an undecryptable API key. */
  async findPool(organizationId: number): Promise<PoolUpstream[]> {
    const rows = await this.urgent.rows<PoolRow>(POOL, [organizationId]);
    return rows.flatMap((row) => {
      const { id, name, baseUrl, provider, failoverOn, models } = row;
      const apiKey = this.keys.decrypt(row);
      if (apiKey === undefined) return [];
      const rules = models && new ModelRules(models);
      return [{ id, organizationId, name, baseUrl, provider, failoverOn, apiKey, rules }];
    });
  }

  /** Encrypts all API keys with the current encryption key. @returns the number of changed rows */
  reencrypt(): Promise<number> {
    return this.keys.reencrypt();
  }

  /** Normalizes a base URL and checks its host. @throws BaseUrlRejected */
  private async checkBaseUrl({ organizationId }: OwnerScope, text: string): Promise<string> {
    const baseUrl = normalizeBaseUrl(text)!; // the body was validated
    try {
      await this.guard.assertHostAllowed(new URL(baseUrl).hostname, organizationId);
    } catch (error) {
      if (error instanceof AddressRejected) throw new BaseUrlRejected(error.message);
      throw error;
    }
    return baseUrl;
  }

  /**
   * Changes the owner's pool in a transaction. Locks the organization before an upstream, in the same order as the
   * deletion of an organization.
   */
  private change<T>(
    scope: OwnerScope,
    what: 'create' | 'update' | 'delete',
    work: (transaction: EntityManager) => Promise<T>,
  ): Promise<T> {
    return this.transactions.run(async (transaction) => {
      await lockAdminRole(scope, `${what} upstreams`, transaction);
      const result = await work(transaction);
      await this.transactions.emit(new UpstreamsChanged(scope.organizationId), transaction);
      return result;
    });
  }

  private record(
    { organizationId, user }: OwnerScope,
    what: 'created' | 'updated' | 'deleted',
    { id, name }: Pick<Upstream, 'id' | 'name'>,
    details: AuditDetails,
    transaction: EntityManager,
  ): Promise<void> {
    const target = { type: 'upstream', id, name };
    const entry = { organizationId, actor: user, action: `upstream.${what}`, target, details } as const;
    return this.audit.record(entry, transaction);
  }
}
