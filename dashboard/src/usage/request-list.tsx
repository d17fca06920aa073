import { Badge, Collapse, Group, Paper, Text, UnstyledButton } from '@mantine/core';
import { IconListDetails } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { useOwner } from '../organizations/owner';
import { EmptyState } from '../ui/empty-state';
import { Loaded } from '../ui/loaded';
import { OlderButton } from '../ui/older-button';
import { TimeAgo } from '../ui/time-ago';
import { formatMs, formatNumber, formatUsd } from './format';
import { usageRequestsQuery } from './queries';
import type { UsageRequest } from './queries';
import { RequestDetails } from './request-details';
import { RequestFilters } from './request-filters';
import type { UsageView } from './view';

interface Props {
  readonly view: UsageView;
  /** Changes parameters of the URL. */
  readonly onChange: (part: Record<string, string | undefined>) => void;
}

/** Requests that pass the filters, newest first. Each opens to its attempts. */
export function RequestList({ view, onChange }: Props): ReactNode {
  const owner = useOwner();
  const requests = useInfiniteQuery(usageRequestsQuery(owner.id, view));
  return (
    <>
      <RequestFilters view={view} onChange={onChange} />
      <Loaded query={requests}>
        {({ pages }) => (
          <>
            <Requests requests={pages.flatMap((page) => page.requests)} />
            <OlderButton query={requests} label="Show older requests" />
          </>
        )}
      </Loaded>
    </>
  );
}

function Requests({ requests }: { requests: readonly UsageRequest[] }): ReactNode {
  if (requests.length === 0)
    return (
      <EmptyState
        icon={IconListDetails}
        title="No requests"
        text="There are none in this time and with this filter."
      />
    );
  return (
    <Paper withBorder radius="lg" component="ul" className="list">
      {requests.map((request) => (
        <RequestRow key={request.id} request={request} />
      ))}
    </Paper>
  );
}

function RequestRow({ request }: { request: UsageRequest }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const { method, path, model, status, outcome, at } = request;
  const { total_tokens: tokens, latency_ms: latency, cost_usd: cost } = request;
  return (
    <li className="request-row">
      <UnstyledButton w="100%" px="md" py="sm" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Group gap="sm">
          <Badge variant="light" color={outcome === 'ok' ? 'mint' : 'red'}>
            {status}
          </Badge>
          <Text size="sm" className="row-main mono">
            {method} {path} {model && `(${model})`}
          </Text>
          <Text size="sm" c="dimmed">
            {formatNumber(tokens)} tokens, {formatUsd(cost)}, {formatMs(latency)}, <TimeAgo time={at} />
          </Text>
        </Group>
      </UnstyledButton>
      <Collapse expanded={isOpen} keepMounted={false}>
        <RequestDetails request={request} />
      </Collapse>
    </li>
  );
}
