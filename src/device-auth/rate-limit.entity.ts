import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { Time } from '../database/columns.js';

/** How often something happened since a window began. Shared by all replicas. */
@Entity('rate_limits')
export class RateLimit {
  /** What is counted, and whose: `device-codes:203.0.113.7`. */
  @PrimaryColumn({ type: 'text' })
  key: string;

  @Column({ type: 'integer' })
  hits: number;

  /** The end of the window. */
  @Index()
  @Time()
  resetsAt: string;
}
