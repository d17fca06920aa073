import { useQuery } from '@tanstack/react-query';
import { Outlet } from '@tanstack/react-router';
import { createContext, use, useEffect } from 'react';
import type { ReactNode } from 'react';
import { ownerRoute } from '../routes';
import { Missing } from '../shell/error-pages';
import { Loaded } from '../ui/loaded';
import { rememberOwner } from './last-owner';
import { organizationsQuery } from './queries';
import type { Organization } from './queries';

const OwnerContext = createContext<Organization | null>(null);

/** Organization that the open page belongs to. */
export function useOwner(): Organization {
  const owner = use(OwnerContext);
  if (!owner) throw new Error('this page belongs to no organization');
  return owner;
}

/** Whether the signed-in person may change what belongs to the organization. */
export function useIsAdmin(): boolean {
  return useOwner().role === 'admin';
}

/** Layout of all pages of one organization. */
export function OwnerLayout(): ReactNode {
  const { owner: id } = ownerRoute.useParams();
  const organizations = useQuery(organizationsQuery);
  useEffect(() => rememberOwner(id), [id]);
  return (
    <Loaded query={organizations}>
      {(list) => {
        const owner = list.find((organization) => String(organization.id) === id);
        if (!owner) return <Missing>This team does not exist, or you are not a member of it.</Missing>;
        return (
          <OwnerContext key={owner.id} value={owner}>
            <Outlet />
          </OwnerContext>
        );
      }}
    </Loaded>
  );
}
