import type { EntityManager } from 'typeorm';
import { lockCap } from '../database/transactions/caps.js';
import { liveKeys } from './key-rows.js';
import { KEYS_MAX, TooManyKeys } from './keys.errors.js';

/** Owner of a new key. */
export interface KeyOwner {
  readonly organizationId: number;
  readonly userId: string;
}

const reaches = (max: number, condition: string): string =>
  `EXISTS (SELECT FROM (${liveKeys(condition, max)}) AS live OFFSET ${max - 1})`;

const COUNT = `
  SELECT ${reaches(KEYS_MAX.ofUserInOrganization, 'k.user_id = $1 AND k.organization_id = $2')} AS "ofUserInOrganization",
    ${reaches(KEYS_MAX.ofUser, 'k.user_id = $1')} AS "ofUser",
    ${reaches(KEYS_MAX.ofOrganization, 'k.organization_id = $2')} AS "ofOrganization"`;

/** Blocks other transactions that add a key of this user or organization until this transaction ends. */
export async function lockKeyCaps(
  { organizationId, userId }: KeyOwner,
  transaction: EntityManager,
): Promise<void> {
  await lockCap('keysOfUser', userId, transaction);
  await lockCap('keysOfOrganization', organizationId, transaction);
}

/** @throws TooManyKeys if another key would exceed a cap */
export async function assertBelowKeyCaps(
  { organizationId, userId }: KeyOwner,
  manager: EntityManager,
): Promise<void> {
  const [full] = await manager.query<Record<keyof typeof KEYS_MAX, boolean>[]>(COUNT, [
    userId,
    organizationId,
  ]);
  for (const cap of ['ofUserInOrganization', 'ofUser', 'ofOrganization'] as const)
    if (full![cap]) throw new TooManyKeys(cap);
}
