import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import { CreatedAt, Id } from '../../database/connection/columns.js';
import { Organization } from '../model/organization.entity.js';

/** Actions that the audit trail records. */
export const AUDIT_ACTIONS = [
  'organization.created',
  'organization.renamed',
  'member.joined',
  'member.removed',
  'member.left',
  'member.role_changed',
  'invitation.created',
  'invitation.resent',
  'invitation.cancelled',
  'invitation.declined',
  'key.minted',
  'key.renamed',
  'key.revoked',
  'upstream.created',
  'upstream.updated',
  'upstream.deleted',
  'limits.changed',
  'prices.changed',
  'budget.reached',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Object of the action with its state at that time: `{type, id, ...}`. */
export type AuditTarget = Readonly<Record<string, string | number | null>>;
/** Changed values, which may be lists and objects. Never contains a secret. */
export type AuditDetails = Readonly<Record<string, AuditValue>>;
type AuditValue = string | number | boolean | null | readonly unknown[] | object;

/** Action in an organization. Deleted together with the organization. */
@Entity('audit_events')
export class AuditEvent {
  @ForeignKey(() => Organization, { onDelete: 'CASCADE' })
  @PrimaryColumn({ type: 'bigint' })
  organizationId: number;

  @Id()
  id: number;

  @CreatedAt()
  at: string;

  /** Null if no user acted, for example in a scheduled job. */
  @Column({ type: 'text', nullable: true })
  actorUserId: string | null;

  @Column({ type: 'text', nullable: true })
  actorEmail: string | null;

  /** Stored {@link AuditAction}. */
  @Column({ type: 'text' })
  action: string;

  @Column({ type: 'jsonb' })
  target: AuditTarget;

  @Column({ type: 'jsonb' })
  details: AuditDetails;
}
