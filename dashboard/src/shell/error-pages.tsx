import { Button, Center, Code, Stack, Text, Title } from '@mantine/core';
import type { ErrorComponentProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { explainError } from '../api/errors';

interface Props {
  readonly code: string;
  readonly title: string;
  readonly children: ReactNode;
  readonly requestId?: string | null;
}

function ErrorPage({ code, title, children, requestId }: Props): ReactNode {
  return (
    <Center mih="60dvh" p="md">
      <Stack align="center" gap="xs" maw={480}>
        <Text fw={700} fz={48} c="dimmed" lh={1}>
          {code}
        </Text>
        <Title order={1} ta="center">
          {title}
        </Title>
        <Text c="dimmed" ta="center">
          {children}
        </Text>
        {requestId && (
          <Text size="sm" c="dimmed">
            Request <Code>{requestId}</Code>
          </Text>
        )}
        <Button component="a" href="/" mt="sm">
          Go to the start page
        </Button>
      </Stack>
    </Center>
  );
}

/** Page of an address that does not exist. */
export function NotFoundPage(): ReactNode {
  return <Missing>The address may be wrong, or the page was moved or deleted.</Missing>;
}

interface MissingProps {
  /** Status that fits the title. */
  readonly code?: string;
  readonly title?: string;
  readonly children: ReactNode;
}

/** Replaces a page whose object does not exist, or is not for this person. */
export function Missing({
  code = '404',
  title = 'This page does not exist',
  children,
}: MissingProps): ReactNode {
  return (
    <ErrorPage code={code} title={title}>
      {children}
    </ErrorPage>
  );
}

/** Replaces a page that failed to show, for example because its code could not be loaded. */
export function CrashPage({ error }: ErrorComponentProps): ReactNode {
  const { title, advice, requestId } = explainError(error);
  return (
    <ErrorPage code="500" title={title} requestId={requestId}>
      {advice}
    </ErrorPage>
  );
}
