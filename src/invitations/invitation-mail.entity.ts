import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { Time } from '../database/columns.js';
import { Invitation } from './invitation.entity.js';

/** A mail that waits to be sent. Goes when it is sent, given up, or pointless. */
@Entity('invitation_mails')
export class InvitationMail {
  @ForeignKey(() => Invitation, { onDelete: 'CASCADE' })
  @PrimaryColumn({ type: 'bigint' })
  invitationId: number;

  /** The token for the link, encrypted: nowhere else is more than its hash. */
  @Column({ type: 'bytea' })
  sealedToken: Buffer;

  @Column({ type: 'integer', default: 0 })
  attempts: number;

  @Index()
  @Time()
  dueAt: string;
}
