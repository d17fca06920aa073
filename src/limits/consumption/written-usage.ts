import { Injectable } from '@nestjs/common';

/**
 * Progress of the usage records of this replica. A replica counts its own use until the sums of the database include it.
 * The time errs on the late side. Use that counts twice would reject requests within the limit. Use that is missing for
 * a moment only lets some more requests pass.
 */
@Injectable()
export class WrittenUsage {
  /** Time of `performance.now()` until which all records of this replica are in the database. */
  until = -Infinity;
}
