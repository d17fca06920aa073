import { Button, Code, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/client';
import { joinRoute } from '../routes';
import { signOut } from '../session/returned';
import { useSession } from '../session/store';
import type { Session } from '../session/token';
import { CenteredCard } from '../ui/centered-card';
import { ErrorNotice } from '../ui/error-notice';
import { FormSkeleton } from '../ui/skeletons';
import { explainJoin, problemOf } from './explain';
import type { JoinProblem } from './explain';
import { acceptByToken, previewQuery } from './queries';

/** Page at `/join?token=`. */
export function JoinPage(): ReactNode {
  const { token } = joinRoute.useSearch();
  const state = useSession();
  return (
    <CenteredCard>
      {token === undefined && <Problem problem={explainMissing()} />}
      {token !== undefined && state.status !== 'signed-in' && <SignInFirst token={token} />}
      {token !== undefined && state.status === 'signed-in' && (
        <Invitation token={token} session={state.session} />
      )}
    </CenteredCard>
  );
}

function explainMissing(): JoinProblem {
  return {
    title: 'The link is incomplete',
    advice: 'Open the link of the invitation again.',
    canSwitch: false,
  };
}

function SignInFirst({ token }: { token: string }): ReactNode {
  const navigate = useNavigate();
  const signIn = () =>
    void navigate({ to: '/sign-in', search: { return_to: `/join?token=${encodeURIComponent(token)}` } });
  return (
    <Stack>
      <Title order={1} ta="center">
        You are invited to a team
      </Title>
      <Text c="dimmed" ta="center">
        The invitation is for one e-mail address. Sign in with the address that it was sent to.
      </Text>
      <Button size="md" onClick={signIn}>
        Sign in
      </Button>
    </Stack>
  );
}

function Invitation({ token, session }: { token: string; session: Session }): ReactNode {
  const preview = useQuery(previewQuery(token, session.userId));
  if (preview.isPending) return <FormSkeleton />;
  if (preview.isError) return <Failure error={preview.error} onRetry={() => void preview.refetch()} />;
  const problem = problemOf(preview.data.status, preview.data.email, session.email);
  return problem ? <Problem problem={problem} /> : <Offer token={token} preview={preview.data} />;
}

function Offer({ token, preview }: { token: string; preview: Schemas['InvitationPreview'] }): ReactNode {
  const navigate = useNavigate();
  const accept = useMutation({
    mutationFn: () => acceptByToken(token),
    onSuccess: ({ organization }) =>
      void navigate({ to: '/o/$owner/projects', params: { owner: String(organization.id) }, replace: true }),
    meta: { isShownInForm: true },
  });
  if (accept.isError) return <Failure error={accept.error} onRetry={() => accept.mutate()} />;
  const { organization, invited_by: inviter, role } = preview;
  return (
    <Stack>
      <Title order={1} ta="center">
        Join {organization.name}
      </Title>
      <Text c="dimmed" ta="center">
        {inviter.email} invites you as {role === 'admin' ? 'an admin' : 'a member'}.
      </Text>
      <Button size="md" loading={accept.isPending} onClick={() => accept.mutate()}>
        Join {organization.name}
      </Button>
    </Stack>
  );
}

function Failure({ error, onRetry }: { error: unknown; onRetry: () => void }): ReactNode {
  const problem = explainJoin(error);
  return problem ? <Problem problem={problem} /> : <ErrorNotice error={error} onRetry={onRetry} />;
}

function Problem({ problem }: { problem: JoinProblem }): ReactNode {
  return (
    <Stack>
      <Title order={1} ta="center">
        {problem.title}
      </Title>
      <Text c="dimmed" ta="center">
        {problem.advice}
      </Text>
      {problem.requestId && (
        <Text size="xs" c="dimmed" ta="center">
          Request <Code>{problem.requestId}</Code>
        </Text>
      )}
      {problem.canSwitch && <Button onClick={() => void signOut()}>Sign in with another address</Button>}
      <Button variant="default" component="a" href="/">
        Go to the start page
      </Button>
    </Stack>
  );
}
