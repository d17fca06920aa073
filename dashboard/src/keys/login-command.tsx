import { Paper, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { CopyField } from '../ui/forms/copy-field';

/** First way to get a key: the command-line client asks for one, and its user approves in this browser. */
export function LoginCommand(): ReactNode {
  return (
    <Paper withBorder radius="lg" p="md" mb="md">
      <CopyField
        label="Get a key from the command line"
        value={`npx -p mintkeep-cli mintkeep login ${window.location.origin}`}
      />
      <Text c="dimmed" size="sm" mt={6}>
        Run this in a terminal, and approve the request in this browser. The key stays on your machine.
      </Text>
    </Paper>
  );
}
