import { Center, Group, Paper, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Logo } from './logo';

/** Page with one card in the middle, for people who are not signed in yet. */
export function CenteredCard({ children }: { children: ReactNode }): ReactNode {
  return (
    <Center component="main" mih="100dvh" p="md" className="ground">
      <div className="card-column">
        <Group justify="center" gap="xs" mb="lg">
          <Logo size={32} />
          <Text fw={700} size="xl">
            mintkeep
          </Text>
        </Group>
        <Paper withBorder shadow="sm" p={{ base: 'lg', xs: 'xl' }} radius="lg">
          {children}
        </Paper>
      </div>
    </Center>
  );
}
