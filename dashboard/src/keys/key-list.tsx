import { ActionIcon, Badge, Code, Group, Menu, Paper, Text } from '@mantine/core';
import { IconBan, IconDots, IconGauge, IconPencil } from '@tabler/icons-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { KeyLimitsModal } from '../limits/key-limits-modal';
import { useCurrentSession } from '../session/store';
import { ConfirmModal } from '../ui/forms/confirm-modal';
import { useNow } from '../ui/now';
import { TimeAgo, TimeUntil } from '../ui/time-ago';
import { KeyLimitsLine } from './key-limits-line';
import { revokeKey } from './queries';
import type { Key } from './queries';
import { RenameModal } from './rename-modal';

/** @param showsHolder whether the keys of several people are listed */
export function KeyList({ keys, showsHolder }: { keys: readonly Key[]; showsHolder: boolean }): ReactNode {
  return (
    <Paper withBorder radius="lg" component="ul" className="list">
      {keys.map((key) => (
        <KeyRow key={key.id} item={key} showsHolder={showsHolder} />
      ))}
    </Paper>
  );
}

function KeyRow({ item, showsHolder }: { item: Key; showsHolder: boolean }): ReactNode {
  return (
    <li className="list-row padded-row">
      <div className="row-main">
        <Group gap={8}>
          <Text fw={600}>{item.name || 'Unnamed key'}</Text>
          <Code>
            {item.prefix}…{item.last4}
          </Code>
          <KeyState item={item} />
        </Group>
        <Text size="sm" c="dimmed">
          {showsHolder && `${item.user_email}, `}
          {item.device && `from ${item.device.hostname ?? item.device.name ?? 'a device'}, `}
          minted <TimeAgo time={item.created_at} />,{' '}
          {item.last_used_at ? (
            <>
              last used <TimeAgo time={item.last_used_at} />
            </>
          ) : (
            'never used'
          )}
        </Text>
        {item.revoked_at === null && <KeyLimitsLine item={item} />}
      </div>
      {item.revoked_at === null && <KeyMenu item={item} />}
    </li>
  );
}

function KeyState({ item: { revoked_at: revokedAt, expires_at: expiresAt } }: { item: Key }): ReactNode {
  const now = useNow();
  if (revokedAt !== null)
    return (
      <Badge color="gray" variant="light">
        revoked
      </Badge>
    );
  if (expiresAt === null) return null;
  const isExpired = Date.parse(expiresAt) <= now;
  return (
    <Badge color={isExpired ? 'red' : 'orange'} variant="light">
      {isExpired ? (
        'expired'
      ) : (
        <>
          expires <TimeUntil time={expiresAt} />
        </>
      )}
    </Badge>
  );
}

function KeyMenu({ item }: { item: Key }): ReactNode {
  const { userId } = useCurrentSession();
  const [open, setOpen] = useState<'none' | 'rename' | 'limits' | 'revoke'>('none');
  const close = () => setOpen('none');
  return (
    <>
      <Menu position="bottom-end" shadow="md">
        <Menu.Target>
          <ActionIcon
            variant="subtle"
            color="gray"
            size="lg"
            aria-label={`Actions for ${item.name || 'the key'}`}
          >
            <IconDots size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {item.user_id === userId && (
            <Menu.Item leftSection={<IconPencil size={16} aria-hidden />} onClick={() => setOpen('rename')}>
              Rename
            </Menu.Item>
          )}
          <Menu.Item leftSection={<IconGauge size={16} aria-hidden />} onClick={() => setOpen('limits')}>
            Limits
          </Menu.Item>
          <Menu.Item
            color="red"
            leftSection={<IconBan size={16} aria-hidden />}
            onClick={() => setOpen('revoke')}
          >
            Revoke
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {open === 'rename' && <RenameModal item={item} onClose={close} />}
      {open === 'limits' && <KeyLimitsModal item={item} onClose={close} />}
      {open === 'revoke' && <RevokeModal item={item} onClose={close} />}
    </>
  );
}

function RevokeModal({ item, onClose }: { item: Key; onClose: () => void }): ReactNode {
  return (
    <ConfirmModal
      title="Revoke key"
      confirmLabel="Revoke"
      onConfirm={() => revokeKey(item)}
      onClose={onClose}
    >
      <Text size="sm">
        Tools that use <strong>{item.name || `${item.prefix}…${item.last4}`}</strong> of {item.user_email}{' '}
        stop working at once. This cannot be undone.
      </Text>
    </ConfirmModal>
  );
}
