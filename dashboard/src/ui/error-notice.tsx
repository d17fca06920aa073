import { Alert, Button, Code, Group, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { explainError } from '../api/errors';

interface Props {
  readonly error: unknown;
  readonly onRetry?: () => void;
}

/** Explains an error in the place of the content that is missing. */
export function ErrorNotice({ error, onRetry }: Props): ReactNode {
  const { title, advice, requestId } = explainError(error);
  return (
    <Alert color="red" role="alert" title={title} icon={<IconAlertTriangle size={18} aria-hidden />}>
      <Text size="sm">{advice}</Text>
      <Group mt="sm" gap="sm">
        {onRetry && (
          <Button size="compact-sm" variant="default" onClick={onRetry}>
            Try again
          </Button>
        )}
        {requestId && (
          <Text size="xs" c="dimmed">
            Request <Code>{requestId}</Code>
          </Text>
        )}
      </Group>
    </Alert>
  );
}
