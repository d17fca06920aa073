import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { BATCH_ROWS, runInBatches } from '../database/transactions/batches.js';
import { Jobs } from '../jobs/jobs.js';

/** Uses `now()`, because `clock_timestamp()` is volatile and cannot bound an index scan. */
const EXPIRE = `
  UPDATE invitations SET status = 'expired' WHERE id = ANY (ARRAY(
    SELECT id FROM invitations WHERE status = 'pending' AND expires_at <= now()
    ORDER BY expires_at LIMIT ${BATCH_ROWS} FOR UPDATE SKIP LOCKED
  ))`;

/** Stores the status `expired` of expired invitations. */
@Injectable()
export class InvitationExpiry {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    jobs: Jobs,
  ) {
    jobs.add({ name: 'expire_invitations', everySeconds: 60, work: () => this.run() });
  }

  /** @returns the number of expired invitations */
  run(): Promise<number> {
    return runInBatches(this.dataSource, EXPIRE);
  }
}
