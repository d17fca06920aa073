import { Injectable } from '@nestjs/common';
import type { OnModuleInit } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { NotFound } from '../common/domain-error.js';
import { Invalidations } from '../database/invalidations.js';
import { PreparedQueries } from '../database/prepared.js';
import { Transactions } from '../database/transactions.js';
import { UrgentQueries } from '../database/urgent-queries.js';
import type { AuditDetails } from '../organizations/audit-event.entity.js';
import { AuditTrail } from '../organizations/audit-trail.js';
import { OrganizationDeleting } from '../organizations/membership-events.js';
import { holdAsAdmin } from '../organizations/organization-lock.js';
import type { OwnerScope } from '../organizations/owner-scope.js';
import { AddressGuard, AddressRefused } from './address-guard.js';
import { normalBaseUrl, sameOrigin } from './base-url.js';
import type { CreateUpstreamDto, UpdateUpstreamDto } from './dto/upstream.requests.js';
import { UpstreamResponse } from './dto/upstream.response.js';
import type { UpstreamTestResponse } from './dto/upstream.response.js';
import { providerOf } from './provider.js';
import { auditChanges, auditDetails, updated } from './upstream-changes.js';
import { UpstreamKeys } from './upstream-keys.js';
import { UpstreamProbe } from './upstream-probe.js';
import { assertRoom, COLUMNS, insertRow, lockRow, nextId, updateRow } from './upstream-rows.js';
import { Upstream } from './upstream.entity.js';
import { ApiKeyNeeded, BaseUrlRefused } from './upstreams.errors.js';

const DEFAULT_PRIORITY = 100;

const KEY_LOST: UpstreamTestResponse = {
  ...{ ok: false, status: null, latency_ms: 0 },
  message: 'the stored API key cannot be decrypted: send it anew',
};

const LIST = {
  name: 'upstreams.list',
  text: `SELECT ${COLUMNS} FROM upstreams WHERE organization_id = $1 ORDER BY priority, id`,
};

const GET = {
  name: 'upstreams.get',
  text: `SELECT ${COLUMNS} FROM upstreams WHERE id = $1 AND organization_id = $2`,
};

/** Rows as the entity has them. */
const POOL = {
  name: 'upstreams.pool',
  text: `SELECT id, organization_id AS "organizationId", name, base_url AS "baseUrl", provider,
           api_key_encrypted AS "apiKeyEncrypted"
         FROM upstreams WHERE organization_id = $1 AND enabled ORDER BY priority, id`,
};

type PoolRow = Pick<Upstream, 'id' | 'organizationId' | 'name' | 'baseUrl' | 'provider' | 'apiKeyEncrypted'>;

/** An upstream as the proxy uses it. Holds the API key: not to be logged. */
export type PoolUpstream = Pick<Upstream, 'id' | 'name' | 'baseUrl' | 'provider'> & {
  readonly apiKey: string;
};

/** What changed pools are told by, so that whoever has one cached forgets it, on every replica. */
export const POOL_CHANGED = 'pool-changed';

/** The pool of an organization is another one when the transaction is committed. */
export class UpstreamsChanged {
  constructor(readonly organizationId: number) {}
}

/** Upstreams of an owner. What belongs to another owner does not exist. */
@Injectable()
export class UpstreamsService implements OnModuleInit {
  constructor(
    @InjectRepository(Upstream) private readonly upstreams: Repository<Upstream>,
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

  /** In the order they are tried. */
  list(scope: OwnerScope): Promise<UpstreamResponse[]> {
    return this.queries.rows<UpstreamResponse>(LIST, [scope.organizationId]);
  }

  /** @throws NotFound */
  async get(scope: OwnerScope, id: number): Promise<UpstreamResponse> {
    const [upstream] = await this.queries.rows<UpstreamResponse>(GET, [id, scope.organizationId]);
    if (!upstream) throw new NotFound();
    return upstream;
  }

  /** @throws BaseUrlRefused @throws NameTaken @throws TooManyUpstreams @throws OrganizationNotFound @throws AdminsOnly */
  async create(scope: OwnerScope, fields: CreateUpstreamDto): Promise<UpstreamResponse> {
    const { name, api_key, priority = DEFAULT_PRIORITY, enabled = true } = fields;
    const baseUrl = await this.allowed(fields.base_url);
    const provider = fields.provider ?? providerOf(baseUrl);
    const providerChosen = fields.provider !== undefined;
    return this.change(scope, 'create', async (transaction) => {
      await assertRoom(scope.organizationId, transaction);
      const owned = { id: await nextId(transaction), organizationId: scope.organizationId };
      const upstream = transaction.create(Upstream, {
        ...{ ...owned, name, baseUrl, provider, providerChosen, priority, enabled },
        ...this.keys.seal(owned, api_key),
      });
      await insertRow(upstream, transaction);
      await this.record(scope, 'created', upstream, auditDetails(upstream), transaction);
      return UpstreamResponse.from(upstream);
    });
  }

  /** @throws BaseUrlRefused @throws NotFound @throws ApiKeyNeeded @throws NameTaken @throws OrganizationNotFound @throws AdminsOnly */
  async update(scope: OwnerScope, id: number, fields: UpdateUpstreamDto): Promise<UpstreamResponse> {
    const { base_url, api_key } = fields;
    const baseUrl = base_url === undefined ? undefined : await this.allowed(base_url);
    return this.change(scope, 'update', async (transaction) => {
      const before = await lockRow(scope, id, transaction);
      const after = updated(before, fields, baseUrl);
      if (api_key === undefined && !sameOrigin(before.baseUrl, after.baseUrl)) throw new ApiKeyNeeded();
      const sealed = api_key === undefined ? {} : this.keys.seal(before, api_key);
      const changes = auditChanges(before, after, api_key !== undefined);
      if (Object.keys(changes).length > 0) await this.record(scope, 'updated', before, changes, transaction);
      return updateRow(id, { ...after, ...sealed }, transaction);
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

  /** Asks the upstream, enabled or not, for its models. @throws NotFound */
  async test(scope: OwnerScope, id: number): Promise<UpstreamTestResponse> {
    const upstream = await this.upstreams.findOneBy({ id, organizationId: scope.organizationId });
    if (!upstream) throw new NotFound();
    const apiKey = this.keys.open(upstream);
    return apiKey === undefined ? KEY_LOST : this.prober.probe(upstream, apiKey);
  }

  /** The enabled upstreams in the order they are tried. One whose API key cannot be decrypted is left out. */
  async pool(organizationId: number): Promise<PoolUpstream[]> {
    const rows = await this.urgent.rows<PoolRow>(POOL, [organizationId]);
    return rows.flatMap((row) => {
      const { id, name, baseUrl, provider } = row;
      const apiKey = this.keys.open(row);
      return apiKey === undefined ? [] : [{ id, name, baseUrl, provider, apiKey }];
    });
  }

  /** Puts every API key under the encryption key that encrypts today. @returns how many were not */
  reencrypt(): Promise<number> {
    return this.keys.reencrypt();
  }

  /** The base URL as it is stored. @throws BaseUrlRefused */
  private async allowed(text: string): Promise<string> {
    const baseUrl = normalBaseUrl(text)!; // the body was validated
    try {
      await this.guard.assertHostAllowed(new URL(baseUrl).hostname);
    } catch (error) {
      if (error instanceof AddressRefused) throw new BaseUrlRefused(error.message);
      throw error;
    }
    return baseUrl;
  }

  /**
   * A change of the owner's pool, in a transaction. The organization is held before any upstream is locked: who
   * deletes it locks in this order, too.
   */
  private change<T>(
    scope: OwnerScope,
    what: 'create' | 'update' | 'delete',
    work: (transaction: EntityManager) => Promise<T>,
  ): Promise<T> {
    return this.transactions.run(async (transaction) => {
      await holdAsAdmin(scope, `${what} upstreams`, transaction);
      const result = await work(transaction);
      await this.transactions.emit(new UpstreamsChanged(scope.organizationId), transaction);
      return result;
    });
  }

  private record(
    { organizationId, user }: OwnerScope,
    what: 'created' | 'updated' | 'deleted',
    { id, name }: Upstream,
    details: AuditDetails,
    transaction: EntityManager,
  ): Promise<void> {
    const target = { type: 'upstream', id, name };
    const entry = { organizationId, actor: user, action: `upstream.${what}`, target, details } as const;
    return this.audit.record(entry, transaction);
  }
}
