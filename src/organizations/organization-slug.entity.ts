import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A slug that was ever used. It stays taken for good, except for the admin who deleted its last organization. */
@Entity('organization_slugs')
export class OrganizationSlug {
  @PrimaryColumn({ type: 'text' })
  slug: string;

  @Column({ type: 'boolean' })
  inUse: boolean;

  /** Who performed the latest deletion; null while in use. */
  @Column({ type: 'text', nullable: true })
  deletedBy: string | null;
}
