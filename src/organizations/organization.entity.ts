import { Check, Column, Entity, ForeignKey, Unique } from 'typeorm';
import { CreatedAt, Id, UpdatedAt } from '../database/columns.js';
import { User } from '../auth/user.entity.js';

export type OrganizationKind = 'personal' | 'team';

/** An owner: of projects, upstreams and keys. A personal one is made with its user and belongs to it for life. */
@Entity('organizations')
@Unique(['slug'])
@Unique(['personalUserId'])
@Check(
  'organizations_kind_check',
  `(kind = 'personal' AND slug IS NULL AND personal_user_id IS NOT NULL)
    OR (kind = 'team' AND slug IS NOT NULL AND personal_user_id IS NULL)`,
)
export class Organization {
  @Id()
  id: number;

  @Column({ type: 'text' })
  kind: OrganizationKind;

  @Column({ type: 'text' })
  name: string;

  /** Null for personal organizations only. */
  @Column({ type: 'text', nullable: true })
  slug: string | null;

  /** Whose personal organization it is; null for teams. Unique: a user has one. */
  @ForeignKey(() => User, { onDelete: 'CASCADE' })
  @Column({ type: 'text', nullable: true })
  personalUserId: string | null;

  @CreatedAt()
  createdAt: string;

  @UpdatedAt()
  updatedAt: string;
}
