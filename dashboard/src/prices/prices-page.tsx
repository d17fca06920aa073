import { Button, Stack } from '@mantine/core';
import { IconCoin, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { useIsAdmin, useOwner } from '../organizations/owner';
import { upstreamsQuery } from '../upstreams/queries';
import { EmptyState } from '../ui/empty-state';
import { Loaded } from '../ui/loaded';
import { Section } from '../ui/section';
import { PriceModal } from './price-modal';
import type { PriceTarget } from './price-modal';
import { PriceTable } from './price-table';
import { pricesQuery } from './queries';
import type { Price } from './queries';
import { UnpricedSection } from './unpriced-section';

/** Own prices of the organization, and models that were used without a known price. */
export function PricesPage(): ReactNode {
  const owner = useOwner();
  const prices = useQuery(pricesQuery(owner.id));
  return <Loaded query={prices}>{(list) => <Prices prices={list} />}</Loaded>;
}

function Prices({ prices }: { prices: readonly Price[] }): ReactNode {
  const owner = useOwner();
  const isAdmin = useIsAdmin();
  const { data: upstreams = [] } = useQuery({ ...upstreamsQuery(owner.id), enabled: isAdmin });
  const [target, setTarget] = useState<PriceTarget>();
  const button = isAdmin && (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setTarget({})}>
      Add price
    </Button>
  );
  return (
    <Stack gap="lg">
      <UnpricedSection prices={prices} upstreams={upstreams} onAdd={setTarget} />
      {prices.length === 0 ? (
        <EmptyState
          icon={IconCoin}
          title="No own prices"
          text="Costs come from the price list of this version. Own prices are for models that it does not have, or for contracts of your own."
        >
          {button}
        </EmptyState>
      ) : (
        <Section
          title="Own prices"
          text="US dollars per million tokens. The first one that matches the model sent to the upstream wins, before the price list."
        >
          <Stack align="flex-start">
            <PriceTable
              prices={prices}
              upstreams={upstreams}
              onEdit={(price, index) => setTarget({ price, index })}
            />
            {button}
          </Stack>
        </Section>
      )}
      {target && <PriceModal target={target} upstreams={upstreams} onClose={() => setTarget(undefined)} />}
    </Stack>
  );
}
