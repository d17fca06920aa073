import { formatAge, formatRemaining, formatWait } from './device-page-times.js';

it.each([
  [0, 'just now'],
  [5, '5 seconds ago'],
  [59, '59 seconds ago'],
  [60, '1 minute ago'],
  [179, '2 minutes ago'],
])('%d s ago is %j', (seconds, text) => expect(formatAge(seconds)).toBe(text));

it.each([
  [-1, '0 seconds', '0 seconds'],
  [1, '1 second', '1 second'],
  [119, '119 seconds', '119 seconds'],
  [120, '2 minutes', '2 minutes'],
  [599, '9 minutes', '10 minutes'],
  [600, '10 minutes', '10 minutes'],
])('%d s are %j left, and %j to wait', (seconds, left, wait) => {
  expect([formatRemaining(seconds), formatWait(seconds)]).toEqual([left, wait]);
});
