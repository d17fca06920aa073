import type { EntityManager } from 'typeorm';
import { LOCKS_OF_CAPS } from './advisory-locks.js';

/** Kinds of objects that have a cap, or are limited per time. */
type CappedObjects = keyof typeof LOCKS_OF_CAPS;
/** Id of an organization, project or user. */
type OwnerId = number | string;

/** Maximum number of objects that one owner has. */
export interface Cap {
  readonly objects: CappedObjects;
  readonly max: number;
  /** Query of the objects of the owner ($1), without its `SELECT` clause. */
  readonly rows: string;
  readonly Rejection: new () => Error;
}

/** Checks the cap in a transaction that has added an object, so that the count includes it. @throws the rejection */
export async function assertWithinCap(
  { objects, max, rows, Rejection }: Cap,
  owner: OwnerId,
  transaction: EntityManager,
): Promise<void> {
  await lockCap(objects, owner, transaction);
  if (await hasMoreThan(max, rows, [owner], transaction)) throw new Rejection();
}

/**
 * Serializes the transactions that add objects to one owner, until this transaction ends. Each statement reads what is
 * committed when the statement begins, so a count after this lock includes the objects of every transaction before.
 */
export async function lockCap(
  objects: CappedObjects,
  owner: OwnerId,
  transaction: EntityManager,
): Promise<void> {
  const values = [LOCKS_OF_CAPS[objects], String(owner)];
  await transaction.query('SELECT pg_advisory_xact_lock($1, hashtext($2))', values);
}

/**
 * Whether a query has more than `max` rows. Reads at most one row more than that.
 * @param rows query without its `SELECT` clause
 */
export async function hasMoreThan(
  max: number,
  rows: string,
  values: unknown[],
  transaction: EntityManager,
): Promise<boolean> {
  const beyond = await transaction.query<unknown[]>(`SELECT 1 ${rows} OFFSET ${max} LIMIT 1`, values);
  return beyond.length > 0;
}
