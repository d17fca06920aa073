import { Paper, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

interface Props {
  readonly title: string;
  readonly text?: ReactNode;
  readonly children: ReactNode;
}

/** Part of a page with a heading, such as one group of settings. */
export function Section({ title, text, children }: Props): ReactNode {
  return (
    <Paper withBorder radius="lg" p="lg" component="section" aria-label={title}>
      <Title order={2} mb={4}>
        {title}
      </Title>
      {text && (
        <Text size="sm" c="dimmed" mb="md">
          {text}
        </Text>
      )}
      {children}
    </Paper>
  );
}
