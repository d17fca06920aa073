import { useNavigate } from '@tanstack/react-router';
import { Alert, Text, Title } from '@mantine/core';
import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { CenteredCard } from '../ui/centered-card';
import { openDeviceSession } from './device-session';
import { isServicePage, safeReturnTo } from './return-to';
import { SignInPanel } from './sign-in-panel';
import { useSession } from './store';
import { signInRoute } from '../routes';

/** Page at `/sign-in`. A signed-in person goes on to the page that they came from. */
export function SignInPage(): ReactNode {
  const { return_to: value } = signInRoute.useSearch();
  const returnTo = safeReturnTo(value, window.location.origin);
  const isStuck = useReturn(returnTo);
  return (
    <CenteredCard>
      <Title order={1} ta="center">
        Sign in to mintkeep
      </Title>
      <Text c="dimmed" ta="center" mb="lg" mt={4}>
        {reasonToSignIn(returnTo)}
      </Text>
      {isStuck && (
        <Alert color="red" mb="md" title="The page cannot be opened">
          The service does not accept your session for this page. Sign in again.
        </Alert>
      )}
      <SignInPanel returnTo={returnTo} />
    </CenteredCard>
  );
}

function reasonToSignIn(returnTo: string): string {
  if (returnTo.startsWith('/auth/device')) return 'A device asks for a key. Sign in to approve it.';
  if (returnTo.startsWith('/join')) return 'Sign in with the address that was invited.';
  return 'Documents, keys and models of your team';
}

/** Leaves the page as soon as there is a session. Returns whether the service rejects the session. */
function useReturn(returnTo: string): boolean {
  const state = useSession();
  const navigate = useNavigate();
  const [isStuck, setStuck] = useState(false);
  const token = state.status === 'signed-in' ? state.session.token : undefined;
  useEffect(() => {
    if (token === undefined) return;
    if (!isServicePage(returnTo)) return void navigate({ href: returnTo, replace: true });
    void openDeviceSession(token).then((isOpen) => {
      if (isOpen) window.location.replace(returnTo);
      else setStuck(true);
    });
  }, [token, returnTo, navigate]);
  return isStuck;
}
