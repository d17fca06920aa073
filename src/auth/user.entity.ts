import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { CreatedAt, UpdatedAt } from '../database/columns.js';

/** Somebody who has signed in once. The identity provider's word counts, this is what we remember of it. */
@Entity('users')
export class User {
  /** The `sub` of the identity provider. */
  @PrimaryColumn({ type: 'text' })
  id: string;

  @Column({ type: 'text' })
  email: string;

  /** What addresses are compared by, see {@link emailKey}. */
  @Index()
  @Column({ type: 'text' })
  emailKey: string;

  @CreatedAt()
  createdAt: string;

  @UpdatedAt()
  updatedAt: string;
}
