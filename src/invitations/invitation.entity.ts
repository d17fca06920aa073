import { Check, Column, Entity, ForeignKey, Index, Unique } from 'typeorm';
import { CreatedAt, Id, Time } from '../database/connection/columns.js';
import type { Role } from '../organizations/model/membership.entity.js';
import { Organization } from '../organizations/model/organization.entity.js';

export const INVITATION_STATUSES = ['pending', 'accepted', 'cancelled', 'expired'] as const;
export type InvitationStatus = (typeof INVITATION_STATUSES)[number];

/**
 * Delivery of the latest mail. `disabled`: no mail server is configured. `failed`: given up after the last attempt, or
 * cancelled before it was sent. `rate_limited`: not sent because of a limit.
 */
export const EMAIL_DELIVERIES = ['disabled', 'queued', 'sent', 'failed', 'rate_limited'] as const;
export type EmailDelivery = (typeof EMAIL_DELIVERIES)[number];

/** Invitation of the holder of an e-mail address to an organization. */
@Entity('invitations')
@Unique('invitations_token_sha256_key', ['tokenSha256'])
@Check('invitations_role_check', `role IN ('admin', 'member')`)
@Check('invitations_status_check', `status IN ('pending', 'accepted', 'cancelled', 'expired')`)
@Check(
  'invitations_email_delivery_check',
  `email_delivery IN ('disabled', 'queued', 'sent', 'failed', 'rate_limited')`,
)
@Index(['organizationId', 'status', 'id']) // finds the newest of each status
@Index('invitations_pending_key', ['organizationId', 'emailKey'], {
  unique: true,
  where: `status = 'pending'`,
})
export class Invitation {
  @Id()
  id: number;

  /** Null once the organization is deleted. */
  @ForeignKey(() => Organization, { onDelete: 'SET NULL' })
  @Column({ type: 'bigint', nullable: true })
  organizationId: number | null;

  /** Name at the time of the invitation or, if the organization is deleted, at its deletion. */
  @Column({ type: 'text' })
  organizationName: string;

  @Column({ type: 'text' })
  organizationSlug: string;

  @Column({ type: 'text' })
  email: string;

  /** Normalized address for comparisons, see `emailKey`. */
  @Index()
  @Column({ type: 'text' })
  emailKey: string;

  @Column({ type: 'text' })
  role: Role;

  /** Stored status. A pending invitation may have expired: `invitation-rows.ts` computes the current status. */
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
