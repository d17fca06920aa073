import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import { CreatedAt, Id } from '../database/columns.js';
import { Organization } from './organization.entity.js';

/** What was acted on, as it was then: `{type, id, ...}`. */
export type AuditTarget = Readonly<Record<string, string | number | null>>;
/** What changed. Never a secret. */
export type AuditDetails = Readonly<Record<string, string | number | boolean | null>>;

/** Something that was done in an organization. Goes with it. */
@Entity('audit_events')
export class AuditEvent {
  @ForeignKey(() => Organization, { onDelete: 'CASCADE' })
  @PrimaryColumn({ type: 'bigint' })
  organizationId: number;

  @Id()
  id: number;

  @CreatedAt()
  at: string;

  /** Null: nobody in person, such as a scheduled job. */
  @Column({ type: 'text', nullable: true })
  actorUserId: string | null;

  @Column({ type: 'text', nullable: true })
  actorEmail: string | null;

  /** `member.removed` and so on. */
  @Column({ type: 'text' })
  action: string;

  @Column({ type: 'jsonb' })
  target: AuditTarget;

  @Column({ type: 'jsonb' })
  details: AuditDetails;
}
