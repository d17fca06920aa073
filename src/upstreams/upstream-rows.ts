import type { EntityManager } from 'typeorm';
import { NotFound } from '../common/domain-error.js';
import { LOCKS_OF_POOLS } from '../database/advisory-locks.js';
import { advancedUpdatedAt } from '../database/change.js';
import { violatesUnique } from '../database/sql-states.js';
import type { OwnerScope } from '../organizations/owner-scope.js';
import type { UpstreamResponse } from './dto/upstream.response.js';
import { Upstream } from './upstream.entity.js';
import { NameTaken, TooManyUpstreams, UPSTREAMS_MAX } from './upstreams.errors.js';

/** Of an {@link UpstreamResponse}. */
export const COLUMNS =
  'id, name, base_url, provider, priority, enabled, api_key_hint, created_at, updated_at';

/** Known before the insert, because the API key is encrypted for it. */
export async function nextId(transaction: EntityManager): Promise<number> {
  const [row] = await transaction.query<{ id: number }[]>(`SELECT nextval('upstreams_id_seq') AS id`);
  return row!.id;
}

/** The row, locked until the transaction ends. @throws NotFound */
export async function lockRow(scope: OwnerScope, id: number, transaction: EntityManager): Promise<Upstream> {
  const upstream = await transaction.findOne(Upstream, {
    where: { id, organizationId: scope.organizationId },
    lock: { mode: 'pessimistic_write' },
  });
  if (!upstream) throw new NotFound();
  return upstream;
}

/** Lets nobody else add an upstream of this owner until the transaction ends. @throws TooManyUpstreams */
export async function assertRoom(organizationId: number, transaction: EntityManager): Promise<void> {
  const values = [LOCKS_OF_POOLS, organizationId];
  await transaction.query('SELECT pg_advisory_xact_lock($1, hashint8($2))', values);
  if ((await transaction.countBy(Upstream, { organizationId })) >= UPSTREAMS_MAX)
    throw new TooManyUpstreams();
}

/** @throws NameTaken */
export async function insertRow(upstream: Upstream, transaction: EntityManager): Promise<void> {
  await transaction.insert(Upstream, upstream).catch(asRefusal); // fills in what the database decides
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
    .catch(asRefusal);
  const [row] = result.raw as UpstreamResponse[];
  return row!;
}

function asRefusal(error: unknown): never {
  if (violatesUnique(error, 'upstreams_organization_id_name_key')) throw new NameTaken();
  throw error;
}
