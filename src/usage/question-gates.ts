import type { DataSource } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions.js';
import { BadRequest } from '../common/domain-error.js';
import { Gate, Gates } from '../common/gate.js';

/** Of the connections of a replica. */
const SHARE_OF_ALL = 0.4;
const ASKER_AT_ONCE = 3;
const PATIENCE_MS = 10_000;

const gateOf = (capacity: number) =>
  new Gate(capacity, PATIENCE_MS, () => new BadRequest('too much is being asked at a time: ask again later'));

const all = new WeakMap<DataSource, Gate>();
const askers = new Gates<string>(() => gateOf(ASKER_AT_ONCE));

/**
 * Runs a question whose cost is its asker's choice: few of one asker's at a time, and not so many of all that the
 * others would be without connections.
 * @throws BadRequest when its turn does not come
 */
export function askInTurn<T>(dataSource: DataSource, asker: string, question: () => Promise<T>): Promise<T> {
  const { poolSize } = dataSource.options as PostgresDataSourceOptions;
  const gate = all.get(dataSource) ?? gateOf(Math.floor(SHARE_OF_ALL * poolSize!));
  all.set(dataSource, gate);
  return askers.run(asker, () => gate.run(question));
}
