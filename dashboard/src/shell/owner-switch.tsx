import { Avatar, Badge, Group, Menu, Skeleton, Text, UnstyledButton, VisuallyHidden } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconCheck, IconMail, IconPlus, IconSelector } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { CreateTeamModal } from '../organizations/create-team-modal';
import { organizationsQuery, ownerName, receivedInvitationsQuery } from '../organizations/queries';
import type { Organization } from '../organizations/queries';
import { useCurrentOwner } from './current-owner';

/** Switches between the personal organization and teams. */
export function OwnerSwitch(): ReactNode {
  const owner = useCurrentOwner();
  const { data: organizations = [] } = useQuery(organizationsQuery);
  const { data: invitations = [] } = useQuery(receivedInvitationsQuery);
  const [isCreating, { open, close }] = useDisclosure();
  if (!owner) return <Skeleton height={44} mb="xs" />;
  return (
    <>
      <Menu width="target" position="bottom-start" shadow="md">
        <Menu.Target>
          <UnstyledButton className="switch" w="100%" p={6} mb="xs">
            <Group wrap="nowrap" gap="sm">
              <OwnerAvatar owner={owner} />
              <Text fw={600} className="truncate" flex={1}>
                <VisuallyHidden>Switch from </VisuallyHidden>
                {ownerName(owner)}
              </Text>
              {invitations.length > 0 && (
                <Badge size="sm" circle aria-label={`${invitations.length} pending invitations`}>
                  {invitations.length}
                </Badge>
              )}
              <IconSelector size={16} aria-hidden />
            </Group>
          </UnstyledButton>
        </Menu.Target>
        <Menu.Dropdown>
          {organizations.map((organization) => (
            <OwnerItem
              key={organization.id}
              organization={organization}
              isCurrent={organization.id === owner.id}
            />
          ))}
          <Menu.Divider />
          <InvitationsItem count={invitations.length} />
          <Menu.Item leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
            Create a team
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {isCreating && <CreateTeamModal onClose={close} />}
    </>
  );
}

function OwnerItem({
  organization,
  isCurrent,
}: {
  organization: Organization;
  isCurrent: boolean;
}): ReactNode {
  const navigate = useNavigate();
  const open = () => void navigate({ to: '/o/$owner/projects', params: { owner: String(organization.id) } });
  return (
    <Menu.Item
      leftSection={<OwnerAvatar owner={organization} />}
      rightSection={isCurrent ? <IconCheck size={16} aria-label="open" /> : undefined}
      onClick={open}
    >
      <Group gap={6} wrap="nowrap">
        <span className="truncate">{ownerName(organization)}</span>
        {organization.kind === 'team' && organization.role === 'admin' && (
          <Badge size="xs" variant="light">
            admin
          </Badge>
        )}
      </Group>
    </Menu.Item>
  );
}

function InvitationsItem({ count }: { count: number }): ReactNode {
  const navigate = useNavigate();
  return (
    <Menu.Item
      leftSection={<IconMail size={16} aria-hidden />}
      rightSection={count > 0 && <Badge size="sm">{count}</Badge>}
      onClick={() => void navigate({ to: '/invitations' })}
    >
      Invitations
    </Menu.Item>
  );
}

function OwnerAvatar({ owner }: { owner: Organization }): ReactNode {
  return (
    <Avatar size={28} radius="md" color="mint" variant="filled" aria-hidden>
      {ownerName(owner).charAt(0).toUpperCase()}
    </Avatar>
  );
}
