import { Entity, PrimaryColumn } from 'typeorm';
import { Time } from '../database/connection/columns.js';

/** Time at which any replica last started a job. Replicas take turns by it. */
@Entity('jobs')
export class JobTurn {
  @PrimaryColumn({ type: 'text' })
  name: string;

  @Time()
  begunAt: string;
}
