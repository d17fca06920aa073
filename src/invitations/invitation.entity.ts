import { Check, Column, Entity, ForeignKey, Index, Unique } from 'typeorm';
import { CreatedAt, Id, Time } from '../database/columns.js';
import type { Role } from '../organizations/membership.entity.js';
import { Organization } from '../organizations/organization.entity.js';

export const INVITATION_STATUSES = ['pending', 'accepted', 'cancelled', 'expired'] as const;
export type InvitationStatus = (typeof INVITATION_STATUSES)[number];

/** `disabled`: there is no mail server; `failed`: given up after several attempts, or pointless before it was sent. */
export const EMAIL_DELIVERIES = ['disabled', 'queued', 'sent', 'failed'] as const;
export type EmailDelivery = (typeof EMAIL_DELIVERIES)[number];

/** A place in an organization, offered to whoever has an address. */
@Entity('invitations')
@Unique('invitations_token_sha256_key', ['tokenSha256'])
@Check('invitations_role_check', `role IN ('admin', 'member')`)
@Check('invitations_status_check', `status IN ('pending', 'accepted', 'cancelled', 'expired')`)
@Check('invitations_email_delivery_check', `email_delivery IN ('disabled', 'queued', 'sent', 'failed')`)
@Index('invitations_pending_key', ['organizationId', 'emailKey'], {
  unique: true,
  where: `status = 'pending'`,
})
export class Invitation {
  @Id()
  id: number;

  /** Null once the organization is deleted. */
  @Index()
  @ForeignKey(() => Organization, { onDelete: 'SET NULL' })
  @Column({ type: 'bigint', nullable: true })
  organizationId: number | null;

  /** As they were when the invitation was made or, at last, when the organization was deleted. */
  @Column({ type: 'text' })
  organizationName: string;

  @Column({ type: 'text' })
  organizationSlug: string;

  @Column({ type: 'text' })
  email: string;

  /** What addresses are compared by, see `emailKey`. */
  @Index()
  @Column({ type: 'text' })
  emailKey: string;

  @Column({ type: 'text' })
  role: Role;

  /** As stored; a pending one may have expired, which `invitation-rows.ts` decides. */
  @Column({ type: 'text' })
  status: InvitationStatus;

  @Column({ type: 'bytea' })
  tokenSha256: Buffer;

  @Column({ type: 'text' })
  invitedByUserId: string;

  @Column({ type: 'text' })
  invitedByEmail: string;

  @Column({ type: 'text', nullable: true })
  acceptedByUserId: string | null;

  @Column({ type: 'text' })
  emailDelivery: EmailDelivery;

  @CreatedAt()
  createdAt: string;

  @Index('invitations_expires_at_idx', { where: `status = 'pending'` })
  @Time()
  expiresAt: string;

  @Time({ nullable: true })
  acceptedAt: string | null;

  @Time({ nullable: true })
  cancelledAt: string | null;
}
