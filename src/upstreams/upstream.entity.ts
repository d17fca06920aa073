import { Column, Entity, ForeignKey, Unique } from 'typeorm';
import { CreatedAt, Id, UpdatedAt } from '../database/columns.js';
import { Organization } from '../organizations/organization.entity.js';
import type { Provider } from './provider.js';

/** A service that answers for an owner's keys. Goes with its owner, and never to another one. */
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

  /** Normalised, without a slash at the end. */
  @Column({ type: 'text' })
  baseUrl: string;

  @Column({ type: 'text' })
  provider: Provider;

  /** Whether it was sent, and so stays when the host changes. */
  @Column({ type: 'boolean', default: false })
  providerChosen: boolean;

  /** The lowest is tried first, then the lowest id. */
  @Column({ type: 'integer' })
  priority: number;

  @Column({ type: 'boolean' })
  enabled: boolean;

  @Column({ type: 'bytea' })
  apiKeyEncrypted: Buffer;

  /** Its last 4 characters. */
  @Column({ type: 'text' })
  apiKeyHint: string;

  @CreatedAt()
  createdAt: string;

  @UpdatedAt()
  updatedAt: string;
}
