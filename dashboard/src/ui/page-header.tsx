import { Group, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useEffect } from 'react';

interface Props {
  readonly title: string;
  readonly text?: ReactNode;
  readonly above?: ReactNode;
  /** Buttons at the right. */
  readonly children?: ReactNode;
}

/** Heading of a page, with its main actions. It also names the browser's tab. */
export function PageHeader({ title, text, above, children }: Props): ReactNode {
  useEffect(() => {
    document.title = `${title} · mintkeep`;
  }, [title]);
  return (
    <header>
      {above}
      <Group justify="space-between" align="flex-start" mb="lg" gap="sm">
        <div className="page-title">
          <Title order={1}>{title}</Title>
          {text && (
            <Text c="dimmed" size="sm" mt={2}>
              {text}
            </Text>
          )}
        </div>
        {children && <Group gap="xs">{children}</Group>}
      </Group>
    </header>
  );
}
