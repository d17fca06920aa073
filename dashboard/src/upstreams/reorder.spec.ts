import fc from 'fast-check';
import { move, planPriorities } from './reorder';

/** Order in which the service tries the upstreams. */
function sorted(list: readonly { id: number; priority: number }[]) {
  return list.toSorted((a, b) => a.priority - b.priority || a.id - b.id);
}

function apply(list: readonly { id: number; priority: number }[], from: number, to: number) {
  const ordered = move(list, from, to);
  const changes = new Map(
    planPriorities(ordered, list[from]!.id).map(({ upstream, priority }) => [upstream, priority]),
  );
  const result = list.map(({ id, priority }) => ({ id, priority: changes.get(id) ?? priority }));
  return { wanted: ordered.map(({ id }) => id), got: sorted(result).map(({ id }) => id), changes, result };
}

it('changes one priority if there is room', () => {
  const list = [
    { id: 1, priority: 10 },
    { id: 2, priority: 20 },
    { id: 3, priority: 30 },
  ];
  expect([...apply(list, 2, 1).changes]).toEqual([[3, 15]]);
  expect([...apply(list, 0, 2).changes]).toEqual([[1, 40]]);
});

it('numbers all anew if there is no room', () => {
  const list = [
    { id: 1, priority: 100 },
    { id: 2, priority: 100 },
    { id: 3, priority: 100 },
  ];
  expect([...apply(list, 2, 1).changes]).toEqual([
    [1, 10],
    [3, 20],
    [2, 30],
  ]);
});

it('always leads to the wanted order, within the bounds of priorities', () => {
  const priorities = fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 2, maxLength: 8 });
  fc.assert(
    fc.property(priorities, fc.nat(), fc.nat(), (values, a, b) => {
      const list = sorted(values.map((priority, index) => ({ id: index + 1, priority })));
      const { wanted, got, result } = apply(list, a % list.length, b % list.length);
      expect(got).toEqual(wanted);
      for (const { priority } of result) expect(priority >= 0 && priority <= 1_000_000).toBe(true);
    }),
  );
});
