import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { Id, Time } from '../database/connection/columns.js';
import { Invitation } from './invitation.entity.js';

/** Queued mail. Deleted once it is sent, given up or cancelled. */
@Entity('invitation_mails')
export class InvitationMail {
  @ForeignKey(() => Invitation, { onDelete: 'CASCADE' })
  @PrimaryColumn({ type: 'bigint' })
  invitationId: number;

  /** Encrypted token of the link. The table `invitations` has only the hash. */
  @Column({ type: 'bytea' })
  sealedToken: Buffer;

  @Column({ type: 'integer', default: 0 })
  attempts: number;

  @Index()
  @Time()
  dueAt: string;
}

/** Mail that the limits allowed. Counts even if the mail is replaced or given up before it is sent. */
@Entity('invitation_mail_grants')
@Index(['organizationId', 'grantedAt'])
@Index(['inviterUserId', 'grantedAt'])
export class InvitationMailGrant {
  @Id()
  id: number;

  @Index()
  @ForeignKey(() => Invitation, { onDelete: 'CASCADE' })
  @Column({ type: 'bigint' })
  invitationId: number;

  /** Has no foreign key, because the count outlives the organization. */
  @Column({ type: 'bigint' })
  organizationId: number;

  /** The user who invited or resent. */
  @Column({ type: 'text' })
  inviterUserId: string;

  @Time()
  grantedAt: string;
}
