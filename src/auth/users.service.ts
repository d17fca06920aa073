import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Any, Not, Repository } from 'typeorm';
import { emailKey } from '../common/text/text.js';
import { Transactions } from '../database/transactions/transactions.js';
import type { SessionUser } from './session-user.js';
import { User } from './user.entity.js';

/** Event within the transaction that creates a user. Listeners create what every user has, such as an organization. */
export class UserCreated {
  constructor(readonly user: SessionUser) {}
}

/** Users that the identity provider has confirmed. */
@Injectable()
export class UsersService {
  constructor(
    @InjectRepository(User) private readonly users: Repository<User>,
    private readonly transactions: Transactions,
  ) {}

  /** Creates the user once, even under concurrent requests, and keeps the e-mail address equal to the session's. */
  async createOrUpdate(user: SessionUser): Promise<void> {
    const existing = await this.users.findOneBy({ id: user.id });
    if (!existing) await this.create(user);
    else if (existing.email !== user.email) await this.changeEmail(user);
  }

  /** E-mail addresses by user id. */
  async findEmails(ids: readonly string[]): Promise<Map<string, string>> {
    const users = await this.users.find({ select: { id: true, email: true }, where: { id: Any(ids) } });
    return new Map(users.map(({ id, email }) => [id, email]));
  }

  /** `ON CONFLICT DO NOTHING` waits for a concurrent transaction that creates the same user, so the user is complete. */
  private create(user: SessionUser): Promise<void> {
    return this.transactions.run(async (transaction) => {
      const { id, email } = user;
      const result = await transaction
        .createQueryBuilder()
        .insert()
        .into(User)
        .values({ id, email, emailKey: emailKey(email) })
        .orIgnore()
        .returning('id')
        .execute();
      if ((result.raw as unknown[]).length === 1)
        await this.transactions.emit(new UserCreated(user), transaction);
    });
  }

  private async changeEmail({ id, email }: SessionUser): Promise<void> {
    await this.users.update({ id, email: Not(email) }, { email, emailKey: emailKey(email) });
  }
}
