import { Check, Column, Entity, ForeignKey, Index, Unique } from 'typeorm';
import { User } from '../auth/user.entity.js';
import { CreatedAt, Id, Time } from '../database/columns.js';

export const KEY_SOURCES = ['dashboard', 'device'] as const;
export type KeySource = (typeof KEY_SOURCES)[number];

/** Why a key no longer works. */
export const REVOKED_REASONS = [
  ...(['revoked', 'revoked_by_admin'] as const),
  ...(['member_removed', 'member_left', 'organization_deleted'] as const),
];
export type RevokedReason = (typeof REVOKED_REASONS)[number];

/** What asked for a key, as it called itself. */
export interface KeyDevice {
  readonly name: string | null;
  readonly hostname: string | null;
}

/** A key of the proxy. Bound to one owner for life; stays on record when it is revoked, and when its owner is gone. */
@Entity('proxy_keys')
@Unique('proxy_keys_secret_sha256_key', ['secretSha256'])
@Index(['organizationId', 'userId'])
@Check('proxy_keys_source_check', `source IN ('dashboard', 'device')`)
export class ProxyKey {
  @Id()
  id: number;

  /** The owner; no foreign key, because the key outlives it. */
  @Column({ type: 'bigint' })
  organizationId: number;

  /** Who minted it. */
  @Index()
  @ForeignKey(() => User, { onDelete: 'CASCADE' })
  @Column({ type: 'text' })
  userId: string;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'bytea' })
  secretSha256: Buffer;

  @Column({ type: 'text' })
  prefix: string;

  @Column({ type: 'text' })
  last4: string;

  @Column({ type: 'text' })
  source: KeySource;

  @Column({ type: 'jsonb', nullable: true })
  device: KeyDevice | null;

  @CreatedAt()
  createdAt: string;

  @Time({ nullable: true })
  lastUsedAt: string | null;

  @Time({ nullable: true })
  expiresAt: string | null;

  @Time({ nullable: true })
  revokedAt: string | null;

  @Column({ type: 'text', nullable: true })
  revokedReason: RevokedReason | null;
}
