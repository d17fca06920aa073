import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { Time } from '../../database/connection/columns.js';

/** Number of hits in a time window, shared by all replicas. */
@Entity('rate_limits')
export class RateLimit {
  /** Kind of hit and client: `device-codes:203.0.113.7`. */
  @PrimaryColumn({ type: 'text' })
  key: string;

  @Column({ type: 'integer' })
  hits: number;

  /** End of the window. */
  @Index()
  @Time()
  resetsAt: string;
}
