import { useSortable } from '@dnd-kit/sortable';
import { CSS } from '@dnd-kit/utilities';
import { ActionIcon, Badge, Group, Switch, Text } from '@mantine/core';
import { IconGripVertical } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useOwner } from '../organizations/owner';
import { ConnectionTest } from './connection-test';
import { updateUpstream } from './queries';
import type { Upstream } from './queries';
import { UpstreamMenu } from './upstream-menu';

interface Props {
  readonly upstream: Upstream;
  /** Place in the order of attempts, from 1. */
  readonly position: number;
  readonly isLast: boolean;
  readonly onMove: (distance: number) => void;
}

/** Upstream with its rules, its switch and a handle that moves it. */
export function UpstreamRow({ upstream, position, isLast, onMove }: Props): ReactNode {
  const { attributes, listeners, setNodeRef, setActivatorNodeRef, transform, transition, isDragging } =
    useSortable({
      id: upstream.id,
    });
  const style = {
    transform: CSS.Translate.toString(transform),
    transition,
    zIndex: isDragging ? 1 : undefined,
  };
  return (
    <li
      ref={setNodeRef}
      style={style}
      className="list-row padded-row upstream-row"
      data-dragging={isDragging || undefined}
    >
      <ActionIcon
        ref={setActivatorNodeRef}
        variant="subtle"
        color="gray"
        className="drag-handle"
        {...attributes}
        {...listeners}
        aria-label={`Move ${upstream.name}`}
      >
        <IconGripVertical size={18} aria-hidden />
      </ActionIcon>
      <div className="row-main">
        <Group gap={8}>
          <Text fw={600}>
            {position}. {upstream.name}
          </Text>
          <Badge variant="light" color="gray">
            {upstream.provider}
          </Badge>
        </Group>
        <Text size="sm" c="dimmed">
          {upstream.base_url}, key …{upstream.api_key_hint}
        </Text>
        <Rules upstream={upstream} />
      </div>
      <Group gap="sm">
        <ConnectionTest upstream={upstream} />
        <EnabledSwitch upstream={upstream} />
        <UpstreamMenu upstream={upstream} isFirst={position === 1} isLast={isLast} onMove={onMove} />
      </Group>
    </li>
  );
}

/** Rules of the upstream in a line, if it has any. */
function Rules({ upstream: { models, failover_on: statuses } }: { upstream: Upstream }): ReactNode {
  const parts = [
    models
      ? `Models: ${models.map(({ model, as }) => (as === null ? model : `${model} as ${as}`)).join(', ')}`
      : '',
    statuses.length > 0 ? `failover after ${statuses.join(', ')}` : '',
  ].filter((part) => part !== '');
  if (parts.length === 0) return null;
  return (
    <Text size="sm" c="dimmed" lineClamp={2}>
      {parts.join('; ')}
    </Text>
  );
}

function EnabledSwitch({ upstream }: { upstream: Upstream }): ReactNode {
  const { id: owner } = useOwner();
  const change = useMutation({
    mutationFn: (enabled: boolean) => updateUpstream(owner, upstream.id, { enabled }),
  });
  return (
    <Switch
      aria-label={`${upstream.name} enabled`}
      checked={change.isPending ? change.variables : upstream.enabled}
      onChange={(event) => change.mutate(event.currentTarget.checked)}
    />
  );
}
