import { Alert, Button, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import type { ReactNode } from 'react';
import { ErrorNotice } from '../ui/error-notice';
import { FormSkeleton } from '../ui/skeletons';
import { configQuery } from './config';
import { DevelopmentForm } from './development-form';
import { leaveForSignIn } from './redirect';

const SupabaseForm = lazy(() => import('./supabase-form'));

/** Properties of {@link SignInPanel}. */
export interface SignInPanelProps {
  /** Address of the last session. */
  readonly email?: string;
  /** Path to come back to, if the sign-in leads through another page. */
  readonly returnTo: string;
}

/** Signs the person in, by the way that the service is configured for. */
export function SignInPanel(props: SignInPanelProps): ReactNode {
  const config = useQuery(configQuery);
  if (config.isPending) return <FormSkeleton />;
  if (config.isError) return <ErrorNotice error={config.error} onRetry={() => void config.refetch()} />;
  const { sign_in: signIn } = config.data;
  if (signIn.kind === 'development') return <DevelopmentForm {...props} />;
  if (signIn.kind === 'redirect') return <RedirectButton url={signIn.url} returnTo={props.returnTo} />;
  if (signIn.kind === 'none') return <NoSignIn />;
  return (
    <Suspense fallback={<FormSkeleton />}>
      <SupabaseForm settings={signIn} {...props} />
    </Suspense>
  );
}

function RedirectButton({ url, returnTo }: { url: string; returnTo: string }): ReactNode {
  return (
    <>
      <Text size="sm" c="dimmed" mb="md">
        You sign in at {new URL(url).host} and come back to this page.
      </Text>
      <Button fullWidth size="md" onClick={() => leaveForSignIn(url, returnTo)}>
        Continue to sign-in
      </Button>
    </>
  );
}

function NoSignIn(): ReactNode {
  return (
    <Alert color="yellow" title="No sign-in is configured">
      The service accepts sessions of an identity provider, but does not know its sign-in page. The operator
      sets <code>SUPABASE_AUTH_URL</code> or <code>SIGN_IN_URL</code>.
    </Alert>
  );
}
