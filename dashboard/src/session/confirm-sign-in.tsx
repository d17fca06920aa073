import { Button, Group, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { CenteredCard } from '../ui/centered-card';

interface Props {
  readonly email: string;
  readonly onDecision: (isAccepted: boolean) => void;
}

/** Asks before a session is used that this tab did not ask for. Another page may have sent the person here. */
export function ConfirmSignIn({ email, onDecision }: Props): ReactNode {
  return (
    <CenteredCard>
      <Title order={1} ta="center">
        Sign in as {email}?
      </Title>
      <Text c="dimmed" my="md">
        A link wants to sign you in with this address. Everything that you write is then stored in that
        account.
      </Text>
      <Group grow>
        <Button variant="default" onClick={() => onDecision(false)}>
          No, do not sign in
        </Button>
        <Button onClick={() => onDecision(true)}>Sign in</Button>
      </Group>
    </CenteredCard>
  );
}
