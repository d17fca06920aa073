import { Column, Entity, ForeignKey, Unique } from 'typeorm';
import { CreatedAt, Id, UpdatedAt } from '../../database/connection/columns.js';
import { Project } from '../../projects/project.entity.js';

/** Row of a document. The body is the object `documents/{id}` in object storage. */
@Entity('documents')
@Unique(['projectId', 'slug'])
@ForeignKey(() => Project, ['projectId', 'organizationId'], ['id', 'organizationId'], { onDelete: 'CASCADE' })
export class Document {
  @Id()
  id: number;

  /** Owner of the project; repeated here, so that every query can name it. */
  @Column({ type: 'bigint' })
  organizationId: number;

  @Column({ type: 'bigint' })
  projectId: number;

  @Column({ type: 'text' })
  title: string;

  @Column({ type: 'text' })
  slug: string;

  /** SHA-256 of the body that belongs to this row. */
  @Column({ type: 'bytea' })
  bodySha256: Buffer;

  /** Bytes of UTF-8. */
  @Column({ type: 'integer' })
  bodySize: number;

  /** Number of updates plus 1; part of the entity tag. */
  @Column({ type: 'integer', default: 1 })
  version: number;

  @CreatedAt()
  createdAt: string;

  @UpdatedAt()
  updatedAt: string;
}
