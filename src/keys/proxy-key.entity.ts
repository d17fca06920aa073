import { Check, Column, Entity, ForeignKey, Index, Unique } from 'typeorm';
import { User } from '../auth/user.entity.js';
import { CreatedAt, Id, Time } from '../database/connection/columns.js';
import type { LimitSet } from '../limits/rules/limit-set.js';

export const KEY_SOURCES = ['dashboard', 'device'] as const;
export type KeySource = (typeof KEY_SOURCES)[number];

/** Reasons of a revocation. */
export const REVOKED_REASONS = [
  'revoked',
  'revoked_by_admin',
  'member_removed',
  'member_left',
  'organization_deleted',
] as const;
export type RevokedReason = (typeof REVOKED_REASONS)[number];

/** Device that requested a key, with the names that it gave itself. */
export interface KeyDevice {
  readonly name: string | null;
  readonly hostname: string | null;
}

/** Proxy key. Its owner never changes. The row outlives the revocation of the key and the deletion of its owner. */
@Entity('proxy_keys')
@Unique('proxy_keys_secret_sha256_key', ['secretSha256'])
@Index('proxy_keys_user_id_expires_at_idx', ['userId', 'expiresAt', 'organizationId'], {
  where: 'revoked_at IS NULL',
})
@Index('proxy_keys_organization_id_expires_at_idx', ['organizationId', 'expiresAt'], {
  where: 'revoked_at IS NULL',
})
@Index('proxy_keys_user_id_revoked_at_idx', ['userId', 'revokedAt', 'organizationId'], {
  where: 'revoked_at IS NOT NULL',
})
@Index('proxy_keys_organization_id_revoked_at_idx', ['organizationId', 'revokedAt'], {
  where: 'revoked_at IS NOT NULL',
})
@Check('proxy_keys_source_check', `source IN ('dashboard', 'device')`)
export class ProxyKey {
  @Id()
  id: number;

  /** Owner. Has no foreign key, because the key outlives its owner. */
  @Column({ type: 'bigint' })
  organizationId: number;

  /** Holder: the user who minted the key. */
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

  /** Limits of this key alone; null for none. */
  @Column({ type: 'jsonb', nullable: true })
  limits: LimitSet | null;

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
