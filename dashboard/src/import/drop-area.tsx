import { Overlay, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { filesOfDrop } from './read-files';
import type { ChosenFile } from './read-files';

/** Accepts files that are dropped anywhere on the page. */
export function DropArea({ onDrop }: { onDrop: (files: ChosenFile[]) => void }): ReactNode {
  const [isOver, setOver] = useState(false);
  const latest = useRef(onDrop);
  useEffect(() => {
    latest.current = onDrop;
  });
  useEffect(() => {
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
    const over = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(true);
    };
    const leave = (event: DragEvent) => event.relatedTarget === null && setOver(false);
    const drop = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(false);
      void filesOfDrop(event.dataTransfer!).then((files) => latest.current(files));
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
