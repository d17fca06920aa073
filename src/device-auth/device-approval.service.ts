import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { ScopesService } from '../organizations/scopes.service.js';
import { InvalidUserCode } from './device-auth.errors.js';
import { DeviceSession } from './device-session.entity.js';
import { UserCodeLookup } from './user-code-lookup.js';
import type { CodeTyper, DeviceRequest } from './user-code-lookup.js';

/** No row when somebody else was first, or time is over. */
const DECIDE = `
  UPDATE device_sessions
  SET state = $2, organization_id = $3, decided_by_user_id = $4, decided_by_email = $5, decided_at = clock_timestamp()
  WHERE id = $1 AND state = 'pending' AND expires_at > clock_timestamp() RETURNING id`;

/** The person's side: looks at what a device wants, and says yes or no. */
@Injectable()
export class DeviceApprovalService {
  constructor(
    @InjectRepository(DeviceSession) private readonly sessions: Repository<DeviceSession>,
    private readonly lookup: UserCodeLookup,
    private readonly scopes: ScopesService,
  ) {}

  /** @throws RateLimited @throws InvalidUserCode */
  find(typer: CodeTyper, typed: string): Promise<DeviceRequest> {
    return this.lookup.find(typer, typed);
  }

  /**
   * Lets the device fetch a key of the user's.
   * @param organizationId whose pool the key will use; the personal one's when undefined
   * @throws RateLimited @throws InvalidUserCode @throws OrganizationNotFound
   */
  async approve(typer: CodeTyper, typed: string, organizationId?: number): Promise<DeviceRequest> {
    const request = await this.lookup.find(typer, typed);
    const scope =
      organizationId === undefined
        ? await this.scopes.personalScope(typer.user)
        : await this.scopes.scope(typer.user, organizationId);
    return this.decide(typer, request, 'approved', scope.organizationId);
  }

  /** @throws RateLimited @throws InvalidUserCode */
  async deny(typer: CodeTyper, typed: string): Promise<DeviceRequest> {
    return this.decide(typer, await this.lookup.find(typer, typed), 'denied', null);
  }

  private async decide(
    { user }: CodeTyper,
    request: DeviceRequest,
    state: 'approved' | 'denied',
    organizationId: number | null,
  ): Promise<DeviceRequest> {
    const values = [request.id, state, organizationId, user.id, user.email];
    const [decided] = await this.sessions.query<[unknown[], number]>(DECIDE, values);
    if (decided.length !== 1) throw new InvalidUserCode();
    return request;
  }
}
