import { formatUsd } from './format';

it.each([
  [null, '–'],
  [0, '$0.00'],
  [1_234.5, '$1,234.50'],
  [0.0123, '$0.01'],
  [0.00012345, '$0.000123'],
  [0.0000000004, '$0.0000000004'],
])('formats %p dollars as %s', (value, text) => {
  expect(formatUsd(value)).toBe(text);
});
