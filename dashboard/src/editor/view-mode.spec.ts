import { parseView } from './view-mode';

it.each([
  [undefined, false, true, 'split'],
  [undefined, true, true, 'edit'],
  [undefined, false, false, 'preview'],
  ['split', true, true, 'edit'],
  ['preview', true, true, 'preview'],
  ['edit', false, false, 'edit'],
  ['nonsense', false, true, 'split'],
] as const)('reads %j (narrow: %s, may write: %s) as %s', (value, isNarrow, mayWrite, mode) => {
  expect(parseView(value, isNarrow, mayWrite)).toBe(mode);
});
