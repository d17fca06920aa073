import { Check, Column, Entity, Index, Unique } from 'typeorm';
import { CreatedAt, Id, Time } from '../../database/connection/columns.js';

/** A job writes `expired`. A session counts as expired from `expiresAt` on, whatever its state. */
export type DeviceSessionState = 'pending' | 'approved' | 'denied' | 'consumed' | 'expired';

/** A device's request for a key. It holds no secret: codes are hashed, and the key is created when it is fetched. */
@Entity('device_sessions')
@Unique('device_sessions_device_code_sha256_key', ['deviceCodeSha256'])
@Unique('device_sessions_user_code_hmac_key', ['userCodeHmac'])
@Check('device_sessions_state_check', `state IN ('pending', 'approved', 'denied', 'consumed', 'expired')`)
export class DeviceSession {
  @Id()
  id: number;

  @Column({ type: 'bytea' })
  deviceCodeSha256: Buffer;

  @Column({ type: 'bytea', nullable: true })
  userCodeHmac: Buffer | null;

  @Column({ type: 'text' })
  state: DeviceSessionState;

  /** Name that the device gave for itself. */
  @Column({ type: 'text', nullable: true })
  name: string | null;

  @Column({ type: 'text', nullable: true })
  hostname: string | null;

  /** IP address of the device. */
  @Column({ type: 'text', nullable: true })
  ip: string | null;

  /** Owner of the chosen pool. Not a foreign key: membership is checked when the key is fetched. */
  @Column({ type: 'bigint', nullable: true })
  organizationId: number | null;

  @Column({ type: 'text', nullable: true })
  decidedByUserId: string | null;

  @Column({ type: 'text', nullable: true })
  decidedByEmail: string | null;

  @Time({ nullable: true })
  decidedAt: string | null;

  /** Time of the last accepted poll. */
  @Time({ nullable: true })
  lastPolledAt: string | null;

  @CreatedAt()
  createdAt: string;

  @Index()
  @Time()
  expiresAt: string;
}
