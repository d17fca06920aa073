import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { CreatedAt, UpdatedAt } from '../database/connection/columns.js';

/** A user who has signed in at least once. The identity provider is authoritative; this row is a copy. */
@Entity('users')
export class User {
  /** The `sub` of the identity provider. */
  @PrimaryColumn({ type: 'text' })
  id: string;

  @Column({ type: 'text' })
  email: string;

  /** Normalized address for comparisons, see {@link emailKey}. */
  @Index()
  @Column({ type: 'text' })
  emailKey: string;

  @CreatedAt()
  createdAt: string;

  @UpdatedAt()
  updatedAt: string;
}
