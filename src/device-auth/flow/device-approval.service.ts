import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { Transactions } from '../../database/transactions/transactions.js';
import { KeysService } from '../../keys/keys.service.js';
import { lockRole } from '../../organizations/scope/organization-locks.js';
import { ScopesService } from '../../organizations/scope/scopes.service.js';
import { InvalidUserCode } from './device-auth.errors.js';
import { DeviceSession } from './device-session.entity.js';
import { UserCodeLookup } from './user-code-lookup.js';
import type { CodeTyper, DeviceRequest } from './user-code-lookup.js';

/** Updates no row if another decision was first or the code has expired. */
const DECIDE = `
  UPDATE device_sessions
  SET state = $2, organization_id = $3, decided_by_user_id = $4, decided_by_email = $5, decided_at = clock_timestamp()
  WHERE id = $1 AND state = 'pending' AND expires_at > clock_timestamp() RETURNING id`;

/** The person's side of the flow: shows a device's request, and approves or denies it. */
@Injectable()
export class DeviceApprovalService {
  constructor(
    @InjectRepository(DeviceSession) private readonly sessions: Repository<DeviceSession>,
    private readonly lookup: UserCodeLookup,
    private readonly scopes: ScopesService,
    private readonly keys: KeysService,
    private readonly transactions: Transactions,
  ) {}

  /** @throws RateLimited @throws InvalidUserCode */
  find(typer: CodeTyper, typed: string): Promise<DeviceRequest> {
    return this.lookup.find(typer, typed);
  }

  /**
   * Lets the device fetch a key that acts as this user.
   * @param organizationId owner of the pool that the key will use; undefined for the personal organization
   * @throws RateLimited @throws InvalidUserCode @throws OrganizationNotFound @throws TooManyKeys
   */
  async approve(typer: CodeTyper, typed: string, organizationId?: number): Promise<DeviceRequest> {
    const request = await this.lookup.find(typer, typed);
    const { organizationId: ownerId } = await this.scopes.findScopeOrPersonal(typer.user, organizationId);
    await this.keys.assertCanMint({ organizationId: ownerId, userId: typer.user.id });
    return this.transactions.run(async (transaction) => {
      await lockRole(ownerId, typer.user.id, transaction);
      return decide(typer, request, { state: 'approved', organizationId: ownerId }, transaction);
    });
  }

  /** @throws RateLimited @throws InvalidUserCode */
  async deny(typer: CodeTyper, typed: string): Promise<DeviceRequest> {
    const request = await this.lookup.find(typer, typed);
    return decide(typer, request, { state: 'denied', organizationId: null }, this.sessions.manager);
  }
}

/** @throws InvalidUserCode if another decision was first or the code has expired */
async function decide(
  { user }: CodeTyper,
  request: DeviceRequest,
  { state, organizationId }: { state: 'approved' | 'denied'; organizationId: number | null },
  transaction: EntityManager,
): Promise<DeviceRequest> {
  const values = [request.id, state, organizationId, user.id, user.email];
  const [decided] = await transaction.query<[unknown[], number]>(DECIDE, values);
  if (decided.length !== 1) throw new InvalidUserCode();
  return request;
}
