import { decide } from './decide';

it.each([
  [{ base: 'a', own: 'a', server: 'a' }, 'in-sync'],
  [{ base: 'a', own: 'b', server: 'b' }, 'in-sync'],
  [{ base: 'a', own: 'b', server: 'a' }, 'save'],
  [{ base: 'a', own: 'a', server: 'b' }, 'take-server'],
  [{ base: 'a', own: 'b', server: 'c' }, 'merge'],
  [{ base: 'a', own: '', server: 'c' }, 'merge'],
] as const)('decides on %j: %s', (versions, decision) => {
  expect(decide(versions)).toBe(decision);
});
