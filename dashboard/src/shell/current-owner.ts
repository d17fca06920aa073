import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { firstOwner } from '../organizations/last-owner';
import { organizationsQuery } from '../organizations/queries';
import type { Organization } from '../organizations/queries';

/** Organization that the navigation shows: that of the open page, else the one that was open last. */
export function useCurrentOwner(): Organization | undefined {
  const { owner: id } = useParams({ strict: false });
  const { data } = useQuery(organizationsQuery);
  if (!data) return undefined;
  return data.find((organization) => String(organization.id) === id) ?? firstOwner(data);
}
