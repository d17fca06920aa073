import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import type { EntityManager } from 'typeorm';
import type { SessionUser } from '../../auth/session-user.js';
import { Transactions } from '../../database/transactions/transactions.js';
import { TooManyKeys } from '../../keys/keys.errors.js';
import { KeysService } from '../../keys/keys.service.js';
import { OrganizationNotFound } from '../../organizations/model/organizations.errors.js';
import {
  AccessDenied,
  AuthorizationPending,
  DeviceDisconnected,
  ExpiredToken,
  SlowDown,
} from './device-auth.errors.js';
import { DeviceCodes } from './device-codes.js';
import { POLL_MINIMUM_SECONDS } from './device-flow.js';
import { DeviceSession } from './device-session.entity.js';
import type { DeviceKeyResponse } from './dto/device-code.response.js';

const KEY_NAME = 'Device key';

/**
 * Records an accepted poll of a pending session. Only accepted polls count for the interval. `$2` (seconds) dates
 * the poll back, so that a client that retries at once is on time; the same margin applies to its next poll.
 */
const ACCEPT_POLL = `
  UPDATE device_sessions
  SET last_polled_at = date_trunc('milliseconds', clock_timestamp() - make_interval(secs => $2))
  WHERE device_code_sha256 = $1 AND state = 'pending' AND expires_at > clock_timestamp()
    AND (last_polled_at IS NULL
      OR last_polled_at <= clock_timestamp() - make_interval(secs => ${POLL_MINIMUM_SECONDS} + $2))
  RETURNING id`;

const STATE = `
  SELECT CASE WHEN state = 'denied' OR expires_at > clock_timestamp() THEN state ELSE 'expired' END AS state
  FROM device_sessions WHERE device_code_sha256 = $1`;

const CONSUME = `
  UPDATE device_sessions SET state = 'consumed'
  WHERE device_code_sha256 = $1 AND state = 'approved' AND expires_at > clock_timestamp()
  RETURNING id, name, hostname, organization_id, decided_by_user_id, decided_by_email`;

interface ApprovedSession {
  id: number;
  name: string | null;
  hostname: string | null;
  organization_id: number;
  decided_by_user_id: string;
  decided_by_email: string;
}

/** Circumstances of a poll. */
interface PollContext {
  /** Whether the device has closed its connection and cannot receive the response. */
  readonly isDisconnected: () => boolean;
  /** Whether the client may repeat this poll at once without polling too fast. */
  readonly mayRetryAtOnce?: boolean;
}

/** The device's side of the flow: polls for the decision and fetches the key once. */
@Injectable()
export class DevicePollingService {
  constructor(
    @InjectRepository(DeviceSession) private readonly sessions: Repository<DeviceSession>,
    private readonly codes: DeviceCodes,
    private readonly keys: KeysService,
    private readonly transactions: Transactions,
  ) {}

  /**
   * Returns the key after an approval. The polling interval matters only while the session is pending.
   * @throws UnknownDeviceCode @throws AccessDenied @throws ExpiredToken @throws AuthorizationPending
   * @throws SlowDown @throws DeviceDisconnected
   */
  async poll(
    deviceCode: string,
    { isDisconnected, mayRetryAtOnce = false }: PollContext,
  ): Promise<DeviceKeyResponse> {
    const hash = this.codes.verifyAndHash(deviceCode);
    const leadSeconds = mayRetryAtOnce ? POLL_MINIMUM_SECONDS : 0;
    const [accepted] = await this.sessions.query<[unknown[], number]>(ACCEPT_POLL, [hash, leadSeconds]);
    if (accepted.length === 1) throw new AuthorizationPending();
    let state = await this.findState(hash);
    if (state === 'approved') {
      const key = await this.redeem(hash, isDisconnected);
      if (key) return key;
      state = await this.findState(hash);
    }
    if (state === 'pending') throw new SlowDown();
    if (state === 'denied') throw new AccessDenied();
    throw new ExpiredToken();
  }

  /** Undefined if the session was purged. */
  private async findState(hash: Buffer): Promise<DeviceSession['state'] | undefined> {
    const [row] = await this.sessions.query<Pick<DeviceSession, 'state'>[]>(STATE, [hash]);
    return row?.state;
  }

  /**
   * Consumes the session and creates the key, or does neither. A device that received no key can poll again, even
   * after it closed its connection. Undefined if another poll was first, or the session expired or was denied.
   */
  private redeem(
    hash: Buffer,
    isDisconnected: PollContext['isDisconnected'],
  ): Promise<DeviceKeyResponse | undefined> {
    return this.transactions.run(async (transaction) => {
      const [[session]] = await transaction.query<[ApprovedSession[], number]>(CONSUME, [hash]);
      const key = session && (await this.mintOrDeny(session, transaction));
      if (isDisconnected()) throw new DeviceDisconnected();
      return key;
    });
  }

  /** Denies the session and returns undefined if the approver has left the team or reached the limit of keys. */
  private async mintOrDeny(
    session: ApprovedSession,
    transaction: EntityManager,
  ): Promise<DeviceKeyResponse | undefined> {
    const { id, name, hostname, organization_id: organizationId } = session;
    const user = toApprover(session);
    try {
      const fields = { name: name ?? hostname ?? KEY_NAME };
      const device = { name, hostname };
      const key = await this.keys.mintIn({ organizationId, user }, fields, device, transaction);
      return { api_key: key.api_key, issued_at_ms: Date.parse(key.created_at) };
    } catch (error) {
      if (!(error instanceof OrganizationNotFound || error instanceof TooManyKeys)) throw error;
      await transaction.update(DeviceSession, { id }, { state: 'denied' });
      return undefined;
    }
  }
}

/** The approver at the time of approval. `emailVerified` matters for invitations only. */
function toApprover({ decided_by_user_id, decided_by_email }: ApprovedSession): SessionUser {
  return { id: decided_by_user_id, email: decided_by_email, emailVerified: false };
}
