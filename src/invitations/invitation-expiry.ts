import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Jobs } from '../jobs/jobs.js';
import { Invitation } from './invitation.entity.js';

/** Writes down which invitations have expired. */
@Injectable()
export class InvitationExpiry {
  constructor(
    @InjectRepository(Invitation) private readonly invitations: Repository<Invitation>,
    jobs: Jobs,
  ) {
    jobs.add({ name: 'expire_invitations', everySeconds: 60, work: () => this.run() });
  }

  /** @returns how many */
  async run(): Promise<number> {
    const [, expired] = await this.invitations.query<[unknown[], number]>(
      `UPDATE invitations SET status = 'expired' WHERE id IN (
         SELECT id FROM invitations WHERE status = 'pending' AND expires_at <= clock_timestamp() FOR UPDATE SKIP LOCKED
       )`,
    );
    return expired;
  }
}
