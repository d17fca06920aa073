import { Check, Column, Entity, Index, Unique } from 'typeorm';
import { CreatedAt, Id, Time } from '../database/columns.js';

/** `expired` is written by a job; one that is past its time has expired before that. */
export type DeviceSessionState = 'pending' | 'approved' | 'denied' | 'consumed' | 'expired';

/** A device's wish for a key. Holds no secret: codes are kept as hashes, and the key is made when it is fetched. */
@Entity('device_sessions')
@Unique('device_sessions_device_code_sha256_key', ['deviceCodeSha256'])
@Unique('device_sessions_user_code_hmac_key', ['userCodeHmac'])
@Check('device_sessions_state_check', `state IN ('pending', 'approved', 'denied', 'consumed', 'expired')`)
export class DeviceSession {
  @Id()
  id: number;

  @Column({ type: 'bytea' })
  deviceCodeSha256: Buffer;

  /** Null in what former versions kept of a denied one. */
  @Column({ type: 'bytea', nullable: true })
  userCodeHmac: Buffer | null;

  @Column({ type: 'text' })
  state: DeviceSessionState;

  /** As the device calls itself. */
  @Column({ type: 'text', nullable: true })
  name: string | null;

  @Column({ type: 'text', nullable: true })
  hostname: string | null;

  /** Where it asked from. */
  @Column({ type: 'text', nullable: true })
  ip: string | null;

  /** The pool that was chosen; no foreign key, because what became of it shows when the key is fetched. */
  @Column({ type: 'bigint', nullable: true })
  organizationId: number | null;

  @Column({ type: 'text', nullable: true })
  decidedByUserId: string | null;

  @Column({ type: 'text', nullable: true })
  decidedByEmail: string | null;

  @Time({ nullable: true })
  decidedAt: string | null;

  /** The last poll that was not too early. */
  @Time({ nullable: true })
  lastPolledAt: string | null;

  @CreatedAt()
  createdAt: string;

  @Index()
  @Time()
  expiresAt: string;
}
