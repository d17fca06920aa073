import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconUserPlus } from '@tabler/icons-react';
import { Outlet } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useIsAdmin, useOwner } from '../organizations/owner';
import { Missing } from '../shell/error-pages';
import { PageHeader } from '../ui/page-header';
import { RouteTabs } from '../ui/route-tabs';
import type { RouteTab } from '../ui/route-tabs';
import { InviteModal } from './invite-modal';

const TABS: readonly RouteTab[] = [
  { value: 'members', label: 'Members', to: '/o/$owner/members' },
  { value: 'invitations', label: 'Invitations', to: '/o/$owner/members/invitations' },
  { value: 'audit', label: 'Audit trail', to: '/o/$owner/members/audit' },
];

/** Frame of the pages about the people of a team. */
export function MembersLayout(): ReactNode {
  const owner = useOwner();
  const isAdmin = useIsAdmin();
  const [isInviting, { open, close }] = useDisclosure();
  if (owner.kind === 'personal')
    return <Missing>Only teams have members. Create a team to work with others.</Missing>;
  return (
    <>
      <PageHeader
        title="Members"
        text={`People of ${owner.name}. Admins manage everything; members read and use the models.`}
      >
        {isAdmin && (
          <Button leftSection={<IconUserPlus size={16} aria-hidden />} onClick={open}>
            Invite
          </Button>
        )}
      </PageHeader>
      {isAdmin ? <RouteTabs owner={owner.id} tabs={TABS} /> : <Outlet />}
      {isInviting && <InviteModal owner={owner.id} onClose={close} />}
    </>
  );
}
