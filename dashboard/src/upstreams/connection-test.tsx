import { Badge, Button, Tooltip } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useOwner } from '../organizations/owner';
import { testUpstream } from './queries';
import type { Upstream } from './queries';

/** Asks the upstream for its models, and shows how long that took or why it failed. */
export function ConnectionTest({ upstream }: { upstream: Upstream }): ReactNode {
  const { id: owner } = useOwner();
  const test = useMutation({ mutationFn: () => testUpstream(owner, upstream.id) });
  return (
    <>
      {test.data && (
        <Tooltip label={test.data.message} multiline maw={320}>
          <Badge color={test.data.ok ? 'mint' : 'red'} variant="light" role="status" tabIndex={0}>
            {test.data.ok ? `works, ${test.data.latency_ms} ms` : `fails: ${describe(test.data)}`}
          </Badge>
        </Tooltip>
      )}
      <Button
        size="compact-sm"
        variant="default"
        aria-label={`Test ${upstream.name}`}
        loading={test.isPending}
        onClick={() => test.mutate()}
      >
        Test
      </Button>
    </>
  );
}

function describe({ status, message }: { status: number | null; message: string }): string {
  if (status === 401 || status === 403) return `the key is rejected (${status})`;
  return status === null ? message : `status ${status}`;
}
