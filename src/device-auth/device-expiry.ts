import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { messagesOf } from '../common/messages-of.js';
import { BATCH_ROWS, inBatches } from '../database/batches.js';
import { Jobs } from '../jobs/jobs.js';

const KEPT_AFTER_EXPIRY = `interval '1 hour'`;

/** A device code that is not found has expired. So has a denied one by then: its device was to ask for 10 minutes. */
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

/** Passes over what is being counted right now, rather than waiting in another order. */
const CLEAR_LIMITS = `
  DELETE FROM rate_limits WHERE key = ANY (ARRAY(
    SELECT key FROM rate_limits WHERE resets_at <= now()
    ORDER BY resets_at LIMIT ${BATCH_ROWS} FOR UPDATE SKIP LOCKED
  ))`;

/** Clears away what is over: by `now()`, which an index takes for a bound, as it does not `clock_timestamp()`. */
@Injectable()
export class DeviceExpiry {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    jobs: Jobs,
  ) {
    jobs.add({ name: 'clear_device_sessions', everySeconds: 60, work: () => this.run() });
  }

  /** Each for itself: one that fails keeps none of the others. @throws AggregateError of those that failed */
  async run(): Promise<void> {
    const failures: unknown[] = [];
    for (const statement of [PURGE, EXPIRE, CLEAR_LIMITS])
      await inBatches(this.dataSource, statement).catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw new AggregateError(failures, failures.map(messagesOf).join('; '));
  }
}
