import { ActionIcon, Menu, Text } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconDots, IconPencil, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { useOwner } from '../organizations/owner';
import { ConfirmModal } from '../ui/forms/confirm-modal';
import { deleteUpstream } from './queries';
import type { Upstream } from './queries';
import { UpstreamModal } from './upstream-modal';

interface Props {
  readonly upstream: Upstream;
  readonly isFirst: boolean;
  readonly isLast: boolean;
  readonly onMove: (distance: number) => void;
}

/** Changes of an upstream, and its moves for people who do not drag. */
export function UpstreamMenu({ upstream, isFirst, isLast, onMove }: Props): ReactNode {
  const [open, setOpen] = useState<'none' | 'edit' | 'delete'>('none');
  const close = () => setOpen('none');
  return (
    <>
      <Menu position="bottom-end" shadow="md">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label={`Actions for ${upstream.name}`}>
            <IconDots size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            leftSection={<IconArrowUp size={16} aria-hidden />}
            disabled={isFirst}
            onClick={() => onMove(-1)}
          >
            Move up
          </Menu.Item>
          <Menu.Item
            leftSection={<IconArrowDown size={16} aria-hidden />}
            disabled={isLast}
            onClick={() => onMove(1)}
          >
            Move down
          </Menu.Item>
          <Menu.Item leftSection={<IconPencil size={16} aria-hidden />} onClick={() => setOpen('edit')}>
            Edit
          </Menu.Item>
          <Menu.Item
            color="red"
            leftSection={<IconTrash size={16} aria-hidden />}
            onClick={() => setOpen('delete')}
          >
            Delete
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {open === 'edit' && <UpstreamModal upstream={upstream} onClose={close} />}
      {open === 'delete' && <DeleteModal upstream={upstream} onClose={close} />}
    </>
  );
}

function DeleteModal({ upstream, onClose }: { upstream: Upstream; onClose: () => void }): ReactNode {
  const { id: owner } = useOwner();
  return (
    <ConfirmModal
      title="Delete upstream"
      confirmLabel="Delete upstream"
      onConfirm={() => deleteUpstream(owner, upstream.id)}
      onClose={onClose}
    >
      <Text size="sm">
        Requests are no longer passed to <strong>{upstream.name}</strong>. Its API key is removed. Usage
        stays.
      </Text>
    </ConfirmModal>
  );
}
