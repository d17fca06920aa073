import type { Price } from './queries';

/** Finds a price in a list that others may have changed: at its old place, or elsewhere. @returns -1 if it is gone */
export function findPrice(prices: readonly Price[], price: Price, index: number): number {
  const isSame = (other: Price | undefined) => other !== undefined && textOf(other) === textOf(price);
  return isSame(prices[index]) ? index : prices.findIndex(isSame);
}

function textOf({ model, upstream_id, input, output, cached_input, cache_write }: Price): string {
  return JSON.stringify([model, upstream_id, input, output, cached_input, cache_write]);
}

/** Keys for the rows of a table, so that an open menu stays with its price when the order changes. */
export function keysOf(prices: readonly Price[]): string[] {
  const seen = new Map<string, number>();
  return prices.map((price) => {
    const text = textOf(price);
    const count = seen.get(text) ?? 0;
    seen.set(text, count + 1);
    return `${text}${count}`;
  });
}
