import { BadRequest } from '../common/domain-error.js';
import { Gate, Gates } from '../common/gate.js';

/** Of the 20 connections of a replica. */
const ALL_AT_ONCE = 8;
const ASKER_AT_ONCE = 3;
const PATIENCE_MS = 10_000;

const gateOf = (capacity: number) =>
  new Gate(capacity, PATIENCE_MS, () => new BadRequest('too much is being asked at a time: ask again later'));

const all = gateOf(ALL_AT_ONCE);
const askers = new Gates<string>(() => gateOf(ASKER_AT_ONCE));

/**
 * Runs a question whose cost is its asker's choice: few of one asker's at a time, and not so many of all that the
 * others would be without connections.
 * @throws BadRequest when its turn does not come
 */
export function askInTurn<T>(asker: string, question: () => Promise<T>): Promise<T> {
  return askers.run(asker, () => all.run(question));
}
