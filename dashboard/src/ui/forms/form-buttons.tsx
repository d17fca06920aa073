import { Button, Group } from '@mantine/core';
import type { ReactNode } from 'react';

interface Props {
  readonly label: string;
  readonly isPending: boolean;
  readonly onCancel: () => void;
  readonly color?: string;
  readonly isDisabled?: boolean;
}

/** Last line of a form in a dialog. */
export function FormButtons({ label, isPending, onCancel, color, isDisabled = false }: Props): ReactNode {
  return (
    <Group justify="flex-end">
      <Button variant="default" onClick={onCancel}>
        Cancel
      </Button>
      <Button type="submit" color={color} disabled={isDisabled} loading={isPending}>
        {label}
      </Button>
    </Group>
  );
}
