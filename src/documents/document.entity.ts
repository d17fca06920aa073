import { Column, Entity, ForeignKey, Unique } from 'typeorm';
import { CreatedAt, Id, UpdatedAt } from '../database/columns.js';
import { Project } from '../projects/project.entity.js';

/** What the database knows of a document: all but its body, which is the object `documents/{id}`. */
@Entity('documents')
@Unique(['projectId', 'slug'])
@ForeignKey(() => Project, ['projectId', 'organizationId'], ['id', 'organizationId'], { onDelete: 'CASCADE' })
export class Document {
  @Id()
  id: number;

  /** The owner of the project, here so that every query names it. */
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

  /** Counts the updates; the entity tag is made of it. */
  @Column({ type: 'integer', default: 1 })
  version: number;

  @CreatedAt()
  createdAt: string;

  @UpdatedAt()
  updatedAt: string;
}
