import { Button, Tabs } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconUserPlus } from '@tabler/icons-react';
import { Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useIsAdmin, useOwner } from '../organizations/owner';
import { Missing } from '../shell/error-pages';
import { PageHeader } from '../ui/page-header';
import { InviteModal } from './invite-modal';

const TABS = [
  { value: 'members', label: 'Members', to: '/o/$owner/members' },
  { value: 'invitations', label: 'Invitations', to: '/o/$owner/members/invitations' },
  { value: 'audit', label: 'Audit trail', to: '/o/$owner/members/audit' },
] as const;

/** Frame of the pages about the people of a team. */
export function MembersLayout(): ReactNode {
  const owner = useOwner();
  const isAdmin = useIsAdmin();
  const [isInviting, { open, close }] = useDisclosure();
  const navigate = useNavigate();
  const current = useRouterState({ select: ({ location }) => location.pathname.split('/').at(-1)! });
  if (owner.kind === 'personal')
    return <Missing>Only teams have members. Create a team to work with others.</Missing>;
  const openTab = (value: string | null) => {
    const tab = TABS.find((one) => one.value === value);
    if (tab) void navigate({ to: tab.to, params: { owner: String(owner.id) } });
  };
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
      {isAdmin && (
        <Tabs value={current} onChange={openTab} mb="md" keepMounted={false}>
          <Tabs.List>
            {TABS.map(({ value, label }) => (
              <Tabs.Tab key={value} value={value}>
                {label}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          <Tabs.Panel value={current} pt="md">
            <Outlet />
          </Tabs.Panel>
        </Tabs>
      )}
      {!isAdmin && <Outlet />}
      {isInviting && <InviteModal owner={owner.id} onClose={close} />}
    </>
  );
}
