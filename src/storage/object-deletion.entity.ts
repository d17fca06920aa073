import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { CreatedAt, Time } from '../database/connection/columns.js';

/** Note that an object is to be deleted at a time. */
@Entity('object_deletions')
export class ObjectDeletion {
  @PrimaryColumn({ type: 'text' })
  key: string;

  @Index()
  @Time()
  dueAt: string;

  /** Time of a second deletion, because a failed put may still store the object. Null if there is none. */
  @Time({ nullable: true })
  againAt: string | null;

  /** Number of sweeps that have taken the object. */
  @Column({ type: 'integer', default: 0 })
  attempts: number;

  @CreatedAt()
  createdAt: string;
}
