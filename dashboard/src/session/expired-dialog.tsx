import { Button, Group, Modal, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import type { ReactNode } from 'react';
import { SignInPanel } from './sign-in-panel';
import { signOut } from './returned';
import { useSession } from './store';

/** Asks for a new sign-in above the page, which stays as it is. */
export function ExpiredDialog(): ReactNode {
  const state = useSession();
  useRefreshAfterSignIn(state.status === 'signed-out' ? undefined : state.session.userId, state.status);
  if (state.status !== 'expired') return null;
  return (
    <Modal opened centered title="Your session has expired" withCloseButton={false} onClose={() => undefined}>
      <Text size="sm" mb="md">
        Sign in again to go on. Unsaved text is kept in this browser.
      </Text>
      <SignInPanel email={state.session.email} returnTo={window.location.pathname + window.location.search} />
      <Group justify="center" mt="md">
        <Button variant="subtle" color="gray" size="compact-sm" onClick={() => void signOut()}>
          Sign out
        </Button>
      </Group>
    </Modal>
  );
}

/** Loads everything again after a new sign-in. Another person starts anew, because the open page is not theirs. */
function useRefreshAfterSignIn(userId: string | undefined, status: string): void {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const last = useRef({ userId, status });
  useEffect(() => {
    const before = last.current;
    last.current = { userId: userId ?? before.userId, status };
    if (status !== 'signed-in' || before.status === 'signed-in') return;
    if (before.userId === userId) return void queryClient.invalidateQueries();
    void navigate({ to: '/', replace: true });
    void queryClient.resetQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'config' });
  }, [userId, status, queryClient, navigate]);
}
