import { Column, Entity, ForeignKey, Index } from 'typeorm';
import { CreatedAt, Id } from '../database/columns.js';
import { Document } from './document.entity.js';

/**
 * An update that is about to replace a body. Written before the body is, gone with the update's commit: one
 * that stays behind tells what the update of a crashed process, or one whose outcome is not known, wanted.
 */
@Entity('document_updates')
export class DocumentUpdate {
  @Id()
  id: number;

  @Index()
  @ForeignKey(() => Document, { onDelete: 'CASCADE' })
  @Column({ type: 'bigint' })
  documentId: number;

  /** Null: not changed. */
  @Column({ type: 'text', nullable: true })
  title: string | null;

  /** Null: not changed. */
  @Column({ type: 'text', nullable: true })
  slug: string | null;

  @Column({ type: 'bytea' })
  bodySha256: Buffer;

  @Column({ type: 'integer' })
  bodySize: number;

  @CreatedAt()
  createdAt: string;
}
