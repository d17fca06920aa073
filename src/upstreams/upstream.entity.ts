import { Column, Entity, ForeignKey, Unique } from 'typeorm';
import { CreatedAt, Id, UpdatedAt } from '../database/connection/columns.js';
import { Organization } from '../organizations/model/organization.entity.js';
import type { ModelRule } from './models/model-rules.js';
import type { Provider } from './provider.js';

/** Provider's API that requests of an owner are passed to. Deleted with its owner, which never changes. */
@Entity('upstreams')
@Unique(['organizationId', 'name'])
export class Upstream {
  @Id()
  id: number;

  @ForeignKey(() => Organization, { onDelete: 'CASCADE' })
  @Column({ type: 'bigint' })
  organizationId: number;

  /** Trimmed; unique within the owner, compared exactly. */
  @Column({ type: 'text' })
  name: string;

  /** Normalized, without a trailing slash. */
  @Column({ type: 'text' })
  baseUrl: string;

  @Column({ type: 'text' })
  provider: Provider;

  /** Whether a request sent the provider, which then stays when the host changes. */
  @Column({ type: 'boolean', default: false })
  providerChosen: boolean;

  /** The lowest is tried first, then the lowest id. */
  @Column({ type: 'integer' })
  priority: number;

  @Column({ type: 'boolean' })
  enabled: boolean;

  @Column({ type: 'bytea' })
  apiKeyEncrypted: Buffer;

  /** Last 4 characters of the API key. */
  @Column({ type: 'text' })
  apiKeyHint: string;

  /** Models that the upstream serves; null for every model. */
  @Column({ type: 'jsonb', nullable: true })
  models: readonly ModelRule[] | null;

  /** Statuses below 500 that lead to the next upstream. */
  @Column({ type: 'integer', array: true, default: [] })
  failoverOn: readonly number[];

  @CreatedAt()
  createdAt: string;

  @UpdatedAt()
  updatedAt: string;
}
