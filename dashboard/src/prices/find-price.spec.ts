import { findPrice, keysOf } from './find-price';

const price = (model: string, input = 1) => ({ model, input, output: 2 });

it('finds a price at its place, after a move, and not after a change', () => {
  const prices = [price('a'), price('b'), price('a')];
  expect(findPrice(prices, price('a'), 2)).toBe(2);
  expect(findPrice(prices, price('b'), 0)).toBe(1);
  expect(findPrice(prices, price('b', 5), 1)).toBe(-1);
  expect(findPrice([], price('a'), 0)).toBe(-1);
});

it('gives rows keys that stay with their price, also after a move', () => {
  const [a, b, again] = keysOf([price('a'), price('b'), price('a')]);
  expect(new Set([a, b, again]).size).toBe(3);
  expect(keysOf([price('b'), price('a'), price('a')])).toEqual([b, a, again]);
});
