import { formatDuration } from './rate-limit-headers.js';

it.each([
  [0, '0ms'],
  [11.2, '12ms'],
  [999.5, '1s'],
  [1_000, '1s'],
  [59_001, '1m0s'],
  [360_000, '6m0s'],
])('%d ms is written as %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});
