import { queryOptions } from '@tanstack/react-query';
import { api, take } from '../api/client';
import type { Schemas } from '../api/client';
import { ChangedMeanwhileError } from '../api/errors';
import { queryClient } from '../api/query-client';
import { isSameSet } from './limit-values';

/** Limits of one level; null for no limit. Budgets are in USD. */
export type LimitSet = Schemas['LimitSet'];
/** Consumption that limits are compared with. */
export type LimitStatus = Schemas['LimitStatus'];
/** Limits of an organization and of each member, with the consumption of the organization. */
export type OrganizationLimits = Schemas['OrganizationLimits'];

const PATH = '/me/organizations/{id}/limits';
const KEY_PATH = '/me/organizations/{id}/keys/{key_id}/limits';
/** Consumption changes while people look at it. */
const REFRESH_MS = 15_000;

/** Limits of the organization and of each member, with the consumption of the organization. */
export const limitsQuery = (id: number) =>
  queryOptions({
    queryKey: ['limits', id],
    queryFn: () => take(api.GET(PATH, { params: { path: { id } } })),
    refetchInterval: REFRESH_MS,
  });

/** Someone else changed the set after the person saw it. */
export class LimitsChangedError extends ChangedMeanwhileError {
  constructor(readonly current: LimitSet) {
    super();
  }
}

/** Change of a limit set, with the set that the person saw before. */
export interface LimitChange {
  readonly seen: LimitSet;
  readonly changed: LimitSet;
}

/**
 * Changes one of the two sets. A PUT replaces both, so the other one is read first.
 * @throws LimitsChangedError
 */
export async function changeLimits(
  id: number,
  level: 'organization' | 'member',
  change: LimitChange,
): Promise<LimitSet> {
  const params = { path: { id } };
  const current = await take(api.GET(PATH, { params }));
  queryClient.setQueryData(limitsQuery(id).queryKey, current);
  rejectIfChanged(current[level], change);
  const { organization, member } = current;
  const body = { organization, member, [level]: change.changed };
  const stored = await take(api.PUT(PATH, { params, body }));
  queryClient.setQueryData(limitsQuery(id).queryKey, stored);
  void queryClient.invalidateQueries({ queryKey: ['member-limits', id] });
  return stored[level];
}

function rejectIfChanged(current: LimitSet, { seen }: LimitChange): void {
  if (!isSameSet(current, seen)) throw new LimitsChangedError(current);
}

/** Limits and consumption of one member. Members may read their own only. */
export const memberLimitsQuery = (id: number, userId: string) =>
  queryOptions({
    queryKey: ['member-limits', id, userId],
    queryFn: () => {
      const params = { path: { id, user_id: userId } };
      return take(api.GET('/me/organizations/{id}/members/{user_id}/limits', { params }));
    },
    refetchInterval: REFRESH_MS,
  });

/** Limits and consumption of a key. @param isAdmin whether the key may belong to someone else */
export const keyLimitsQuery = (owner: number, key: number, isAdmin: boolean) =>
  queryOptions({
    queryKey: ['key-limits', owner, key],
    queryFn: () =>
      isAdmin
        ? take(api.GET(KEY_PATH, { params: { path: { id: owner, key_id: key } } }))
        : take(api.GET('/me/keys/{key_id}/limits', { params: { path: { key_id: key } } })),
  });

/** Only admins may change the limits of a key. @throws LimitsChangedError */
export async function changeKeyLimits(owner: number, key: number, change: LimitChange): Promise<LimitSet> {
  const params = { path: { id: owner, key_id: key } };
  const { queryKey } = keyLimitsQuery(owner, key, true);
  const current = await take(api.GET(KEY_PATH, { params }));
  queryClient.setQueryData(queryKey, current);
  rejectIfChanged(current.limits, change);
  const stored = await take(api.PUT(KEY_PATH, { params, body: change.changed }));
  queryClient.setQueryData(queryKey, stored);
  return stored.limits;
}
