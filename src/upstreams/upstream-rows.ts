import type { EntityManager } from 'typeorm';
import { NotFound } from '../common/api/domain-error.js';
import { assertWithinCap, lockCap } from '../database/transactions/caps.js';
import type { Cap } from '../database/transactions/caps.js';
import { advancedUpdatedAt } from '../database/connection/columns.js';
import { translateViolation } from '../database/transactions/translate-violation.js';
import type { OwnerScope } from '../organizations/scope/owner-scope.js';
import type { UpstreamResponse } from './dto/upstream.response.js';
import { Upstream } from './upstream.entity.js';
import {
  MODEL_RULES_MAX_BYTES,
  ModelRulesTooLong,
  NameTaken,
  TooManyUpstreams,
  UPSTREAMS_MAX,
} from './upstreams.errors.js';

/** Columns of an {@link UpstreamResponse}. */
export const COLUMNS =
  'id, name, base_url, provider, priority, enabled, models, failover_on, api_key_hint, created_at, updated_at';

const UPSTREAMS_CAP: Cap = {
  objects: 'upstreams',
  max: UPSTREAMS_MAX,
  rows: 'FROM upstreams WHERE organization_id = $1',
  Rejection: TooManyUpstreams,
};

const RULES_BYTES = `
  SELECT coalesce(sum(octet_length(models::text)), 0)::bigint AS bytes FROM upstreams WHERE organization_id = $1`;

/** Checks the size of all model rules of an owner, after the transaction has changed some. @throws ModelRulesTooLong */
export async function assertModelRulesFit(organizationId: number, transaction: EntityManager): Promise<void> {
  await lockCap('upstreams', organizationId, transaction);
  const [row] = await transaction.query<{ bytes: number }[]>(RULES_BYTES, [organizationId]);
  if (row!.bytes > MODEL_RULES_MAX_BYTES) throw new ModelRulesTooLong();
}

/** Reserves the id before the insert, because the encryption of the API key is bound to the id. */
export async function nextId(transaction: EntityManager): Promise<number> {
  const [row] = await transaction.query<{ id: number }[]>(`SELECT nextval('upstreams_id_seq') AS id`);
  return row!.id;
}

/** Returns the upstream and locks its row until the transaction ends. @throws NotFound */
export async function lockRow(scope: OwnerScope, id: number, transaction: EntityManager): Promise<Upstream> {
  const upstream = await transaction.findOne(Upstream, {
    where: { id, organizationId: scope.organizationId },
    lock: { mode: 'pessimistic_write' },
  });
  if (!upstream) throw new NotFound();
  return upstream;
}

type NewUpstream = Omit<Upstream, 'createdAt' | 'updatedAt'>;

/** @throws NameTaken @throws TooManyUpstreams */
export async function insertRow(
  upstream: NewUpstream,
  transaction: EntityManager,
): Promise<UpstreamResponse> {
  const result = await transaction
    .createQueryBuilder()
    .insert()
    .into(Upstream)
    .values(upstream)
    .returning(COLUMNS)
    .updateEntity(false)
    .execute()
    .catch(rejectViolation);
  await assertWithinCap(UPSTREAMS_CAP, upstream.organizationId, transaction);
  return (result.raw as UpstreamResponse[])[0]!;
}

/** @throws NameTaken */
export async function updateRow(
  id: number,
  columns: Partial<Upstream>,
  transaction: EntityManager,
): Promise<UpstreamResponse> {
  const result = await transaction
    .createQueryBuilder()
    .update(Upstream)
    .set({ ...columns, updatedAt: advancedUpdatedAt })
    .where({ id })
    .returning(COLUMNS)
    .execute()
    .catch(rejectViolation);
  const [row] = result.raw as UpstreamResponse[];
  return row!;
}

/** @throws NameTaken */
function rejectViolation(error: unknown): never {
  return translateViolation(error, { upstreams_organization_id_name_key: NameTaken });
}
