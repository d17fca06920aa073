import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { BATCH_ROWS, inBatches } from '../database/batches.js';
import { Jobs } from '../jobs/jobs.js';

/** With `now()`, which an index takes for a bound, as it does not `clock_timestamp()`. */
const EXPIRE = `
  UPDATE invitations SET status = 'expired' WHERE id = ANY (ARRAY(
    SELECT id FROM invitations WHERE status = 'pending' AND expires_at <= now()
    ORDER BY expires_at LIMIT ${BATCH_ROWS} FOR UPDATE SKIP LOCKED
  ))`;

/** Writes down which invitations have expired. */
@Injectable()
export class InvitationExpiry {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    jobs: Jobs,
  ) {
    jobs.add({ name: 'expire_invitations', everySeconds: 60, work: () => this.run() });
  }

  /** @returns how many */
  run(): Promise<number> {
    return inBatches(this.dataSource, EXPIRE);
  }
}
