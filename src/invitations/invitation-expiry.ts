import { Injectable } from '@nestjs/common';
import { Cron, CronExpression } from '@nestjs/schedule';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Invitation } from './invitation.entity.js';

/** Writes down which invitations have expired. One statement: any number of replicas may run it at once. */
@Injectable()
export class InvitationExpiry {
  constructor(@InjectRepository(Invitation) private readonly invitations: Repository<Invitation>) {}

  /** @returns how many */
  @Cron(CronExpression.EVERY_MINUTE, { waitForCompletion: true })
  async run(): Promise<number> {
    const [, expired] = await this.invitations.query<[unknown[], number]>(
      `UPDATE invitations SET status = 'expired' WHERE id IN (
         SELECT id FROM invitations WHERE status = 'pending' AND expires_at <= clock_timestamp() FOR UPDATE SKIP LOCKED
       )`,
    );
    return expired;
  }
}
