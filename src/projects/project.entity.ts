import { Column, Entity, ForeignKey, Unique } from 'typeorm';
import { CreatedAt, Id, UpdatedAt } from '../database/columns.js';
import { Organization } from '../organizations/organization.entity.js';

/** A named group of documents. */
@Entity('projects')
@Unique(['organizationId', 'name'])
@Unique(['id', 'organizationId']) // what documents point to, so that theirs is the owner of their project
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
