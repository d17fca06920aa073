const NO_PARTITION = '23514'; // a check violation: the table has no other checks
const RACES = ['40001', '40P01'];
/** Data exceptions, violated constraints, and what is too large for an index. */
const REFUSALS = ['22', '23', '54'];

function stateOf(error: unknown): string {
  return (error as { code?: string }).code ?? '';
}

/** Whether the month of a record has no partition. */
export function lacksPartition(error: unknown): boolean {
  return stateOf(error) === NO_PARTITION;
}

/** Whether the same statement may succeed at once: it got in the way of another one. */
export function lostRace(error: unknown): boolean {
  return RACES.includes(stateOf(error));
}

/** Whether the database refuses what the statement holds, and will do so again. */
export function isRefusal(error: unknown): boolean {
  return REFUSALS.includes(stateOf(error).slice(0, 2));
}

/** Whether the statement took longer than it may. */
export function tookTooLong(error: unknown): boolean {
  return stateOf(error) === '57014';
}
