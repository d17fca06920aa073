import { Column, Entity, ForeignKey, Unique } from 'typeorm';
import { CreatedAt, Id, UpdatedAt } from '../database/connection/columns.js';
import { Organization } from '../organizations/model/organization.entity.js';

/** A named group of documents. */
@Entity('projects')
@Unique(['organizationId', 'name'])
@Unique(['id', 'organizationId']) // referenced by documents, so that a document has the owner of its project
export class Project {
  @Id()
  id: number;

  @ForeignKey(() => Organization, { onDelete: 'CASCADE' })
  @Column({ type: 'bigint' })
  organizationId: number;

  /** Trimmed; unique within the owner, compared exactly. */
  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'text' })
  description: string;

  @CreatedAt()
  createdAt: string;

  @UpdatedAt()
  updatedAt: string;
}
