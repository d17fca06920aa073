import { Paper, Stack, Text, ThemeIcon, Title } from '@mantine/core';
import type { ComponentType, ReactNode } from 'react';

interface Props {
  readonly icon: ComponentType<{ size?: number }>;
  readonly title: string;
  readonly text: ReactNode;
  /** First step, such as a button. */
  readonly children?: ReactNode;
}

/** Says what belongs on an empty page, and offers the first step. */
export function EmptyState({ icon: Icon, title, text, children }: Props): ReactNode {
  return (
    <Paper withBorder radius="lg" p="xl" className="empty-state">
      <Stack align="center" gap="sm" py="lg">
        <ThemeIcon size={52} radius="xl" variant="light" aria-hidden>
          <Icon size={26} />
        </ThemeIcon>
        <Title order={2} ta="center">
          {title}
        </Title>
        <Text c="dimmed" ta="center" maw={460}>
          {text}
        </Text>
        {children}
      </Stack>
    </Paper>
  );
}
