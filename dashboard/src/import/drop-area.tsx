import { Overlay, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { filesOfDrop } from './read-files';
import type { FileSource } from './read-files';

interface Props {
  /** Whether dropped files are ignored. Otherwise the browser would leave the page to show them. */
  readonly isDisabled: boolean;
  readonly onDrop: (files: FileSource) => void;
}

/** Accepts files that are dropped anywhere on the page. */
export function DropArea({ isDisabled, onDrop }: Props): ReactNode {
  const [isOver, setOver] = useState(false);
  const latest = useRef({ isDisabled, onDrop });
  useEffect(() => {
    latest.current = { isDisabled, onDrop };
  });
  useEffect(() => {
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
    const over = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      if (latest.current.isDisabled) event.dataTransfer!.dropEffect = 'none';
      else setOver(true);
    };
    const leave = (event: DragEvent) => event.relatedTarget === null && setOver(false);
    const drop = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(false);
      const { isDisabled: isIgnored, onDrop: handle } = latest.current;
      if (!isIgnored) handle(filesOfDrop(event.dataTransfer!));
    };
    window.addEventListener('dragover', over);
    window.addEventListener('dragleave', leave);
    window.addEventListener('drop', drop);
    return () => {
      window.removeEventListener('dragover', over);
      window.removeEventListener('dragleave', leave);
      window.removeEventListener('drop', drop);
    };
  }, []);
  if (!isOver) return null;
  return (
    <Overlay fixed center blur={2} zIndex={400}>
      <Text size="xl" fw={700} c="white">
        Drop files to import them
      </Text>
    </Overlay>
  );
}
