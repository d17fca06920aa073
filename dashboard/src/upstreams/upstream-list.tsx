import {
  closestCenter,
  DndContext,
  KeyboardSensor,
  PointerSensor,
  useSensor,
  useSensors,
} from '@dnd-kit/core';
import type { Announcements, DragEndEvent } from '@dnd-kit/core';
import { SortableContext, sortableKeyboardCoordinates, verticalListSortingStrategy } from '@dnd-kit/sortable';
import { Paper, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useOwner } from '../organizations/owner';
import { reorderUpstreams } from './queries';
import type { Upstream } from './queries';
import { move, planPriorities } from './reorder';
import { UpstreamRow } from './upstream-row';

/** Distance in pixels from which a press is a drag and no click. */
const DRAG_DISTANCE = 5;

/** Sortable list. With the keyboard: Space on the handle picks an upstream up, arrows move it, Space drops it. */
export function UpstreamList({ upstreams }: { upstreams: readonly Upstream[] }): ReactNode {
  const { id: owner } = useOwner();
  const sensors = useSensors(
    useSensor(PointerSensor, { activationConstraint: { distance: DRAG_DISTANCE } }),
    useSensor(KeyboardSensor, { coordinateGetter: sortableKeyboardCoordinates }),
  );
  const reorder = useMutation({
    mutationFn: ({ from, to }: { from: number; to: number }) => {
      const ordered = move(upstreams, from, to);
      return reorderUpstreams(owner, ordered, planPriorities(ordered, upstreams[from]!.id));
    },
  });
  const moveTo = (from: number, to: number) => {
    if (to >= 0 && to < upstreams.length && from !== to) reorder.mutate({ from, to });
  };
  const onDragEnd = ({ active, over }: DragEndEvent) => {
    const indexOf = (id: unknown) => upstreams.findIndex((upstream) => upstream.id === id);
    if (over) moveTo(indexOf(active.id), indexOf(over.id));
  };
  return (
    <>
      <DndContext
        sensors={sensors}
        collisionDetection={closestCenter}
        onDragEnd={onDragEnd}
        accessibility={{ announcements: announce(upstreams) }}
      >
        <SortableContext items={upstreams.map(({ id }) => id)} strategy={verticalListSortingStrategy}>
          <Paper withBorder radius="lg" component="ol" className="list" aria-label="Upstreams">
            {upstreams.map((upstream, index) => (
              <UpstreamRow
                key={upstream.id}
                upstream={upstream}
                position={index + 1}
                isLast={index === upstreams.length - 1}
                onMove={(distance) => moveTo(index, index + distance)}
              />
            ))}
          </Paper>
        </SortableContext>
      </DndContext>
      <Text size="sm" c="dimmed" mt="xs">
        Drag to change the order. Only enabled upstreams are used.
      </Text>
    </>
  );
}

/** Texts for screen readers while an upstream is moved. */
function announce(upstreams: readonly Upstream[]): Announcements {
  const indexOf = (id: unknown) => upstreams.findIndex((upstream) => upstream.id === id);
  const nameOf = (id: unknown) => upstreams[indexOf(id)]?.name ?? '';
  return {
    onDragStart: ({ active }) => `Picked up ${nameOf(active.id)}.`,
    onDragOver: ({ active, over }) =>
      over ? `${nameOf(active.id)} is at position ${indexOf(over.id) + 1}.` : undefined,
    onDragEnd: ({ active }) => `Dropped ${nameOf(active.id)}.`,
    onDragCancel: ({ active }) => `${nameOf(active.id)} is back where it was.`,
  };
}
