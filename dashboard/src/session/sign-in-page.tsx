import { useNavigate } from '@tanstack/react-router';
import { Alert, Button, Divider, Text, Title } from '@mantine/core';
import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { CenteredCard } from '../ui/centered-card';
import { openDeviceSession } from './device-session';
import { signInFailure } from './redirect';
import { isServicePage, safeReturnTo } from './return-to';
import { SignInPanel } from './sign-in-panel';
import { useSession } from './store';
import type { Session } from './token';
import { signInRoute } from '../routes';

/** Page at `/sign-in`. A signed-in person goes on to the page that they came from. */
export function SignInPage(): ReactNode {
  const { return_to: value } = signInRoute.useSearch();
  const returnTo = safeReturnTo(value, window.location.origin);
  const { isStuck, offered, accept } = useReturn(returnTo);
  const failure = signInFailure();
  return (
    <CenteredCard>
      <Title order={1} ta="center">
        Sign in to mintkeep
      </Title>
      <Text c="dimmed" ta="center" mb="lg" mt={4}>
        {reasonToSignIn(returnTo)}
      </Text>
      {failure !== undefined && (
        <Alert color="red" role="alert" mb="md" title="You are not signed in">
          {failure}
        </Alert>
      )}
      {isStuck && (
        <Alert color="red" mb="md" title="The page cannot be opened">
          The service does not accept your session for this page. Sign in again.
        </Alert>
      )}
      {offered && (
        <>
          <Button fullWidth size="md" className="truncate" onClick={accept}>
            Continue as {offered.email}
          </Button>
          <Divider label="or use another account" my="md" />
        </>
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

interface Return {
  /** Whether the service rejects the session. */
  readonly isStuck: boolean;
  /** Session that the person may keep or replace. */
  readonly offered: Session | undefined;
  /** Keeps the offered session. */
  readonly accept: () => void;
}

/**
 * Leaves the page as soon as there is a session. The approval page links here for another account, so a session from
 * before is only offered then.
 */
function useReturn(returnTo: string): Return {
  const state = useSession();
  const navigate = useNavigate();
  const [isStuck, setStuck] = useState(false);
  const session = state.status === 'signed-in' ? state.session : undefined;
  const [earlier, setEarlier] = useState(isFromApprovalPage() ? session : undefined);
  const offered = session === earlier ? session : undefined;
  const token = offered ? undefined : session?.token;
  useEffect(() => {
    if (token === undefined) return;
    if (!isServicePage(returnTo)) return void navigate({ href: returnTo, replace: true });
    void openDeviceSession(token).then((isOpen) => {
      if (isOpen) window.location.replace(returnTo);
      else setStuck(true);
    });
  }, [token, returnTo, navigate]);
  return { isStuck, offered, accept: () => setEarlier(undefined) };
}

/** Whether a link of the device flow's approval page led here. */
function isFromApprovalPage(): boolean {
  if (!URL.canParse(document.referrer)) return false;
  const { origin, pathname } = new URL(document.referrer);
  return origin === window.location.origin && pathname === '/auth/device';
}
