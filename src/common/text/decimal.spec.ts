import fc from 'fast-check';
import { roundCost, toDecimal } from './decimal.js';

it('a decimal has the digits of its number', () => {
  expect(toDecimal(0)).toEqual({ digits: 0n, decimals: 0 });
  expect(toDecimal(1.25)).toEqual({ digits: 125n, decimals: 2 });
  expect(toDecimal(1.5e-7)).toEqual({ digits: 15n, decimals: 8 });
  expect(toDecimal(2e21)).toEqual({ digits: 2n * 10n ** 21n, decimals: 0 });
});

it('costs are rounded half up, whatever the error of the last digit', () => {
  fc.assert(
    fc.property(fc.nat(1_000_000_000), (units) => {
      const half = Number(`${units}.5e-10`);
      for (const usd of [half, half * (1 - Number.EPSILON)]) expect(roundCost(usd)).toBe((units + 1) / 1e10);
      expect(roundCost(units / 1e10)).toBe(units / 1e10);
    }),
  );
});
