import { useQuery } from '@tanstack/react-query';
import { Navigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { firstOwner } from '../organizations/last-owner';
import { organizationsQuery } from '../organizations/queries';
import { Loaded } from '../ui/loaded';

/** Leads to the projects of the organization that was open last. */
export function StartPage(): ReactNode {
  const organizations = useQuery(organizationsQuery);
  return (
    <Loaded query={organizations}>
      {(list) => <Navigate to="/o/$owner/projects" params={{ owner: String(firstOwner(list).id) }} replace />}
    </Loaded>
  );
}
