/** Upstream as its order sees it. */
export interface Ordered {
  readonly id: number;
  readonly priority: number;
}

/** Distance between neighbours, which leaves room for a later change of one upstream only. */
const STEP = 10;

/** Moves one element of a list. */
export function move<T>(list: readonly T[], from: number, to: number): T[] {
  const moved = [...list];
  const [element] = moved.splice(from, 1);
  if (element !== undefined) moved.splice(to, 0, element);
  return moved;
}

/**
 * Priorities that give the list its order. A single upstream between two others gets the number in the middle;
 * if there is none, all are numbered anew.
 */
export function planPriorities(
  ordered: readonly Ordered[],
  movedId: number,
): { upstream: number; priority: number }[] {
  const index = ordered.findIndex(({ id }) => id === movedId);
  const before = ordered[index - 1]?.priority ?? -STEP;
  const after = ordered[index + 1]?.priority ?? before + 2 * STEP;
  const middle = Math.floor((before + after) / 2);
  const isSorted = ordered.every(
    ({ id, priority }, at) =>
      id === movedId || at === 0 || isInOrder(ordered[at - 1]!, priority, id, movedId),
  );
  if (isSorted && middle > before && middle < after && middle >= 0)
    return [{ upstream: movedId, priority: middle }];
  return ordered
    .map(({ id, priority }, at) => ({ upstream: id, priority: (at + 1) * STEP, old: priority }))
    .filter(({ priority, old }) => priority !== old)
    .map(({ upstream, priority }) => ({ upstream, priority }));
}

/** Whether the others keep their order among themselves, of which equal priorities are decided by the id. */
function isInOrder(previous: Ordered, priority: number, id: number, movedId: number): boolean {
  if (previous.id === movedId) return true;
  return previous.priority < priority || (previous.priority === priority && previous.id < id);
}
