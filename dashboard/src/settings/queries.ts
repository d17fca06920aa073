import { api, take } from '../api/client';
import type { Schemas } from '../api/client';
import { queryClient } from '../api/query-client';
import { organizationsQuery } from '../organizations/queries';

/** Renames an organization, and changes it in the list at once. */
export async function renameOrganization(id: number, name: string): Promise<Schemas['Organization']> {
  const renamed = await take(api.PUT('/me/organizations/{id}', { params: { path: { id } }, body: { name } }));
  queryClient.setQueryData(organizationsQuery.queryKey, (list) =>
    list?.map((organization) => (organization.id === id ? renamed : organization)),
  );
  return renamed;
}

/** @param slug what the person typed, which the service compares, too */
export async function deleteOrganization(id: number, slug: string): Promise<Schemas['OrganizationDeleted']> {
  const params = { path: { id }, header: { 'X-Confirm-Slug': slug } };
  return take(api.DELETE('/me/organizations/{id}', { params }));
}
