import { Check, Column, Entity, ForeignKey, Index, Unique } from 'typeorm';
import { CreatedAt, Id, UpdatedAt } from '../../database/connection/columns.js';
import { User } from '../../auth/user.entity.js';

export type OrganizationKind = 'personal' | 'team';

/** Owner of projects, upstreams and keys. A personal organization is created with its user, who cannot leave it. */
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

  /** User of a personal organization; null for teams. Unique: a user has one personal organization. */
  @ForeignKey(() => User, { onDelete: 'CASCADE' })
  @Column({ type: 'text', nullable: true })
  personalUserId: string | null;

  /** Creator of a team, counted against `FOUNDED_TEAMS_MAX`; null for personal organizations. */
  @Index()
  @ForeignKey(() => User, { onDelete: 'SET NULL' })
  @Column({ type: 'text', nullable: true })
  founderUserId: string | null;

  @CreatedAt()
  createdAt: string;

  @UpdatedAt()
  updatedAt: string;
}
