import { Entity, PrimaryColumn } from 'typeorm';
import { Time } from '../database/columns.js';

/** When a job was last begun, by whichever replica: that is what the replicas take turns by. */
@Entity('jobs')
export class JobTurn {
  @PrimaryColumn({ type: 'text' })
  name: string;

  @Time()
  begunAt: string;
}
