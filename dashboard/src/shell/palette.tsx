import { Modal, Text } from '@mantine/core';
import type { ReactNode } from 'react';
export default function Palette({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }): ReactNode {
  return (
    <Modal opened={isOpen} onClose={onClose}>
      <Text>soon</Text>
    </Modal>
  );
}
