import { Button, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useIsAdmin, useOwner } from '../organizations/owner';
import type { Upstream } from '../upstreams/queries';
import { formatNumber } from '../usage/format';
import { Section } from '../ui/section';
import type { PriceTarget } from './price-modal';
import { unpricedUsageQuery } from './queries';
import type { Price } from './queries';
import { unpricedModels } from './unpriced';
import type { UnpricedModel } from './unpriced';

interface Props {
  readonly prices: readonly Price[];
  readonly upstreams: readonly Upstream[];
  readonly onAdd: (target: PriceTarget) => void;
}

/** Models of the last 30 days whose cost is unknown. Shows nothing if there are none. */
export function UnpricedSection({ prices, upstreams, onAdd }: Props): ReactNode {
  const owner = useOwner();
  const { data } = useQuery(unpricedUsageQuery(owner.id));
  const models = data ? unpricedModels(data, upstreams, prices) : [];
  if (models.length === 0) return null;
  return (
    <Section
      title="Used without a price"
      text="Requests of the last 30 days. A price applies to later requests; recorded costs do not change."
    >
      <ul className="list plain-list">
        {models.map((unpriced) => (
          <UnpricedRow
            key={`${unpriced.upstreamId} ${unpriced.model}`}
            unpriced={unpriced}
            onAdd={() => onAdd({ model: unpriced.model, upstreamId: unpriced.upstreamId ?? undefined })}
          />
        ))}
      </ul>
    </Section>
  );
}

function UnpricedRow({ unpriced, onAdd }: { unpriced: UnpricedModel; onAdd: () => void }): ReactNode {
  const isAdmin = useIsAdmin();
  const { model, upstreamName, requests } = unpriced;
  return (
    <Group component="li" justify="space-between" gap="sm" py={6}>
      <div className="row-main">
        <Text size="sm" className="mono">
          {model}
        </Text>
        <Text size="sm" c="dimmed">
          {requests === 1 ? '1 request' : `${formatNumber(requests)} requests`}
          {upstreamName !== null && `, upstream ${upstreamName}`}
        </Text>
      </div>
      {isAdmin && (
        <Button size="compact-sm" variant="default" aria-label={`Add price for ${model}`} onClick={onAdd}>
          Add price
        </Button>
      )}
    </Group>
  );
}
