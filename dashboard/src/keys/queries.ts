import { queryOptions } from '@tanstack/react-query';
import { api, take } from '../api/client';
import type { Schemas } from '../api/client';
import { queryClient } from '../api/query-client';

/** Key as lists have it, without its secret. */
export type Key = Schemas['Key'];
/** Minted key with its secret, which no other response contains. */
export type NewKey = Schemas['CreatedKey'];

/** Keys of an organization: all of them for admins, otherwise the own ones. */
export const organizationKeysQuery = (id: number, includesRevoked: boolean) =>
  queryOptions({
    queryKey: ['keys', id, includesRevoked],
    queryFn: async () => {
      const query = includesRevoked ? { include_revoked: true } : {};
      return (await take(api.GET('/me/organizations/{id}/keys', { params: { path: { id }, query } }))).keys;
    },
  });

/** Mints a key. Its secret is in this response only. */
export async function mintKey(id: number, body: Schemas['MintKey']): Promise<NewKey> {
  const key = await take(api.POST('/me/organizations/{id}/keys', { params: { path: { id } }, body }));
  await refresh(id);
  return key;
}

/** Renames an own key. */
export async function renameKey({ id, organization_id: owner }: Key, name: string): Promise<void> {
  await take(api.PUT('/me/keys/{key_id}', { params: { path: { key_id: id } }, body: { name } }));
  await refresh(owner);
}

/** Revokes a key at once and for good. */
export async function revokeKey({ id, organization_id: owner }: Key): Promise<void> {
  const path = { id: owner, key_id: id };
  await take(api.DELETE('/me/organizations/{id}/keys/{key_id}', { params: { path } }));
  await refresh(owner);
}

function refresh(owner: number): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: ['keys', owner] });
}
