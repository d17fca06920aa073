import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Any, Not, Repository } from 'typeorm';
import { emailKey } from '../common/text.js';
import { Transactions } from '../database/transactions.js';
import type { SessionUser } from './session-user.js';
import { User } from './user.entity.js';

/** A user is being made. What belongs to every user from the start is made in the same transaction. */
export class UserCreated {
  constructor(readonly user: SessionUser) {}
}

/** The people that the identity provider has vouched for. */
@Injectable()
export class UsersService {
  constructor(
    @InjectRepository(User) private readonly users: Repository<User>,
    private readonly transactions: Transactions,
  ) {}

  /** Makes the user on first sight, once however many requests come together; the e-mail follows the session. */
  async signIn(user: SessionUser): Promise<void> {
    const known = await this.users.findOneBy({ id: user.id });
    if (!known) await this.create(user);
    else if (known.email !== user.email) await this.changeEmail(user);
  }

  /** The addresses of the users with these ids. */
  async emails(ids: readonly string[]): Promise<Map<string, string>> {
    const users = await this.users.find({ select: { id: true, email: true }, where: { id: Any(ids) } });
    return new Map(users.map(({ id, email }) => [id, email]));
  }

  /** `ON CONFLICT DO NOTHING` waits for whoever is making the same user, so afterwards all of it is there. */
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
