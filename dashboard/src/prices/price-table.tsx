import { Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useIsAdmin } from '../organizations/owner';
import type { Upstream } from '../upstreams/queries';
import { keysOf } from './find-price';
import { PriceMenu } from './price-menu';
import type { Price } from './queries';

const AMOUNT = new Intl.NumberFormat('en', {
  style: 'currency',
  currency: 'USD',
  minimumFractionDigits: 2,
  maximumFractionDigits: 4,
});

interface Props {
  readonly prices: readonly Price[];
  readonly upstreams: readonly Upstream[];
  readonly onEdit: (price: Price, index: number) => void;
}

/** Prices in the order in which they are compared with a model. */
export function PriceTable({ prices, upstreams, onEdit }: Props): ReactNode {
  const isAdmin = useIsAdmin();
  const keys = keysOf(prices);
  return (
    <Table.ScrollContainer minWidth={620} w="100%">
      <Table verticalSpacing="xs" aria-label="Own prices">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Model</Table.Th>
            <Table.Th ta="right">Input</Table.Th>
            <Table.Th ta="right">Output</Table.Th>
            <Table.Th ta="right">Cached input</Table.Th>
            <Table.Th ta="right">Cache write</Table.Th>
            {isAdmin && <Table.Th aria-label="Actions" />}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {prices.map((price, index) => (
            <Table.Tr key={keys[index]}>
              <Table.Td>
                <Text size="sm" className="mono wrap-anywhere">
                  {price.model}
                </Text>
                {price.upstream_id !== undefined && (
                  <Text size="xs" c="dimmed">
                    only {nameOf(price.upstream_id, upstreams)}
                  </Text>
                )}
              </Table.Td>
              <Amount value={price.input} />
              <Amount value={price.output} />
              <Amount value={price.cached_input ?? price.input} />
              <Amount value={price.cache_write ?? price.input} />
              {isAdmin && (
                <Table.Td ta="right">
                  <PriceMenu
                    price={price}
                    index={index}
                    count={prices.length}
                    onEdit={() => onEdit(price, index)}
                  />
                </Table.Td>
              )}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function Amount({ value }: { value: number }): ReactNode {
  return <Table.Td ta="right">{AMOUNT.format(value)}</Table.Td>;
}

/** Members do not see the upstreams, and upstreams can be deleted. */
function nameOf(id: number, upstreams: readonly Upstream[]): string {
  return upstreams.find((upstream) => upstream.id === id)?.name ?? `upstream ${id}`;
}
