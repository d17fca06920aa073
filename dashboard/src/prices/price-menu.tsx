import { ActionIcon, Menu, Text } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconDots, IconPencil, IconTrash } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { useOwner } from '../organizations/owner';
import { move } from '../upstreams/reorder';
import { ConfirmModal } from '../ui/forms/confirm-modal';
import { findPrice } from './find-price';
import { changePrices } from './queries';
import type { Price } from './queries';

interface Props {
  readonly price: Price;
  readonly index: number;
  readonly count: number;
  readonly onEdit: () => void;
}

/** Actions of one price. */
export function PriceMenu({ price, index, count, onEdit }: Props): ReactNode {
  const { id: owner } = useOwner();
  const [isDeleting, setDeleting] = useState(false);
  const reorder = useMutation({
    mutationFn: (distance: number) =>
      changePrices(owner, (prices) => {
        const at = findPrice(prices, price, index);
        return at < 0 ? prices : move(prices, at, at + distance);
      }),
  });
  return (
    <>
      <Menu position="bottom-end" shadow="md">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={`Actions for the price of ${price.model}`}>
            <IconDots size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            leftSection={<IconArrowUp size={16} aria-hidden />}
            disabled={index === 0}
            onClick={() => reorder.mutate(-1)}
          >
            Move up
          </Menu.Item>
          <Menu.Item
            leftSection={<IconArrowDown size={16} aria-hidden />}
            disabled={index === count - 1}
            onClick={() => reorder.mutate(1)}
          >
            Move down
          </Menu.Item>
          <Menu.Item leftSection={<IconPencil size={16} aria-hidden />} onClick={onEdit}>
            Edit
          </Menu.Item>
          <Menu.Item
            color="red"
            leftSection={<IconTrash size={16} aria-hidden />}
            onClick={() => setDeleting(true)}
          >
            Delete
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {isDeleting && <DeleteModal {...{ price, index }} onClose={() => setDeleting(false)} />}
    </>
  );
}

interface DeleteProps {
  readonly price: Price;
  readonly index: number;
  readonly onClose: () => void;
}

function DeleteModal({ price, index, onClose }: DeleteProps): ReactNode {
  const { id: owner } = useOwner();
  const remove = () =>
    changePrices(owner, (prices) => {
      const at = findPrice(prices, price, index);
      return at < 0 ? prices : prices.toSpliced(at, 1);
    });
  return (
    <ConfirmModal title="Delete price" confirmLabel="Delete price" onConfirm={remove} onClose={onClose}>
      <Text size="sm">
        Later requests to <strong>{price.model}</strong> get the next price that matches, or the one of the
        price list. Recorded costs do not change.
      </Text>
    </ConfirmModal>
  );
}
