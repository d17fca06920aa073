import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { CreatedAt } from '../../database/connection/columns.js';
import { User } from '../../auth/user.entity.js';
import { Organization } from './organization.entity.js';

export const ROLES = ['admin', 'member'] as const;
export type Role = (typeof ROLES)[number];

/** Membership of a user in an organization. */
@Entity('memberships')
@Check('memberships_role_check', `role IN ('admin', 'member')`)
export class Membership {
  @ForeignKey(() => Organization, { onDelete: 'CASCADE' })
  @PrimaryColumn({ type: 'bigint' })
  organizationId: number;

  @Index()
  @ForeignKey(() => User, { onDelete: 'CASCADE' })
  @PrimaryColumn({ type: 'text' })
  userId: string;

  @Column({ type: 'text' })
  role: Role;

  @CreatedAt()
  joinedAt: string;
}
