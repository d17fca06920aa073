import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Slug that was used at least once. Stays taken, except for the admin who deleted its latest organization. */
@Entity('organization_slugs')
export class OrganizationSlug {
  @PrimaryColumn({ type: 'text' })
  slug: string;

  @Column({ type: 'boolean' })
  inUse: boolean;

  /** User who deleted the latest organization with this slug; null while the slug is in use. */
  @Column({ type: 'text', nullable: true })
  deletedBy: string | null;
}
