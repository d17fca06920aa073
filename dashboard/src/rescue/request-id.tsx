import { Code, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { explainError } from '../api/errors';

/** Id of the request that failed, for the operator of the service. */
export function RequestId({ error }: { error: unknown }): ReactNode {
  const { requestId } = explainError(error);
  if (!requestId) return null;
  return (
    <Text size="xs" c="dimmed" mb="sm">
      Request <Code>{requestId}</Code>
    </Text>
  );
}
