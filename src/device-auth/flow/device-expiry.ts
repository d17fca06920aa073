import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { errorMessage } from '../../common/logging/error-message.js';
import { BATCH_ROWS, runInBatches } from '../../database/transactions/batches.js';
import { Jobs } from '../../jobs/jobs.js';

const KEPT_AFTER_EXPIRY = `interval '1 hour'`;

/** A purged session reads as expired. A denied one may be purged too: its device stops polling after 10 minutes. */
const PURGE = `
  DELETE FROM device_sessions WHERE id = ANY (ARRAY(
    SELECT id FROM device_sessions WHERE expires_at < now() - ${KEPT_AFTER_EXPIRY}
    ORDER BY expires_at LIMIT ${BATCH_ROWS} FOR UPDATE SKIP LOCKED
  ))`;

const EXPIRE = `
  UPDATE device_sessions SET state = 'expired' WHERE id = ANY (ARRAY(
    SELECT id FROM device_sessions WHERE state IN ('pending', 'approved') AND expires_at <= now()
    ORDER BY expires_at LIMIT ${BATCH_ROWS} FOR UPDATE SKIP LOCKED
  ))`;

/** Skips counters that are locked: waiting for them in another lock order could deadlock. */
const CLEAR_LIMITS = `
  DELETE FROM rate_limits WHERE key = ANY (ARRAY(
    SELECT key FROM rate_limits WHERE resets_at <= now()
    ORDER BY resets_at LIMIT ${BATCH_ROWS} FOR UPDATE SKIP LOCKED
  ))`;

/** Removes expired rows. PostgreSQL can use an index for a bound by `now()`, but not by `clock_timestamp()`. */
@Injectable()
export class DeviceExpiry {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    jobs: Jobs,
  ) {
    jobs.add({ name: 'clear_device_sessions', everySeconds: 60, work: () => this.run() });
  }

  /** Runs every statement, even if another one fails. @throws AggregateError of all failures */
  async run(): Promise<void> {
    const failures: unknown[] = [];
    for (const statement of [PURGE, EXPIRE, CLEAR_LIMITS])
      await runInBatches(this.dataSource, statement).catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw new AggregateError(failures, failures.map(errorMessage).join('; '));
  }
}
