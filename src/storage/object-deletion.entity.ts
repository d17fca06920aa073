import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { CreatedAt, Time } from '../database/columns.js';

/** A note that an object is to be deleted once its time has come. */
@Entity('object_deletions')
export class ObjectDeletion {
  @PrimaryColumn({ type: 'text' })
  key: string;

  @Index()
  @Time()
  dueAt: string;

  /** When the object is to be deleted a second time, because a put that had failed may store it once more. */
  @Time({ nullable: true })
  againAt: string | null;

  /** How often a sweep has taken it up. */
  @Column({ type: 'integer', default: 0 })
  attempts: number;

  @CreatedAt()
  createdAt: string;
}
