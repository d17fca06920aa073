import { Column, Entity, ForeignKey, Index } from 'typeorm';
import { CreatedAt, Id } from '../../database/connection/columns.js';
import { Document } from '../store/document.entity.js';

/**
 * Intent of an update to replace a body. The intent is committed before the body is stored and deleted with the
 * commit of the update. A remaining intent belongs to an update that crashed or whose outcome is unknown.
 */
@Entity('document_updates')
export class DocumentUpdate {
  @Id()
  id: number;

  @Index()
  @ForeignKey(() => Document, { onDelete: 'CASCADE' })
  @Column({ type: 'bigint' })
  documentId: number;

  /** Null if the update leaves it unchanged. */
  @Column({ type: 'text', nullable: true })
  title: string | null;

  /** Null if the update leaves it unchanged. */
  @Column({ type: 'text', nullable: true })
  slug: string | null;

  @Column({ type: 'bytea' })
  bodySha256: Buffer;

  @Column({ type: 'integer' })
  bodySize: number;

  @CreatedAt()
  createdAt: string;
}
