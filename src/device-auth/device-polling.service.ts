import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import type { EntityManager } from 'typeorm';
import type { SessionUser } from '../auth/session-user.js';
import { Transactions } from '../database/transactions.js';
import { KeysService } from '../keys/keys.service.js';
import { OrganizationNotFound } from '../organizations/organizations.errors.js';
import {
  AccessDenied,
  AuthorizationPending,
  DeviceGone,
  ExpiredToken,
  SlowDown,
} from './device-auth.errors.js';
import { DeviceCodes } from './device-codes.js';
import { POLL_TOLERATED_SECONDS } from './device-flow.js';
import { DeviceSession } from './device-session.entity.js';
import type { DeviceKeyResponse } from './dto/device-code.response.js';

const KEY_NAME = 'Device key';

/**
 * An accepted poll of a session that waits for its decision; the only one that the pace is measured from. One that may
 * be repeated at once is written down as so much earlier that the repetition is on time, and so must be the next.
 */
const ACCEPT_POLL = `
  UPDATE device_sessions
  SET last_polled_at = date_trunc('milliseconds', clock_timestamp() - make_interval(secs => $2))
  WHERE device_code_sha256 = $1 AND state = 'pending' AND expires_at > clock_timestamp()
    AND (last_polled_at IS NULL
      OR last_polled_at <= clock_timestamp() - make_interval(secs => ${POLL_TOLERATED_SECONDS} + $2))
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

/** What matters of a poll beside its code. */
interface Poll {
  /** Whether the device has closed its connection, and will not get the answer. */
  readonly isGone: () => boolean;
  /** Whether the client may send it once more at once: then that is no faster than it should be. */
  readonly mayBeRepeated?: boolean;
}

/** The device's side: it asks until there is an answer, which it gets once. */
@Injectable()
export class DevicePollingService {
  constructor(
    @InjectRepository(DeviceSession) private readonly sessions: Repository<DeviceSession>,
    private readonly codes: DeviceCodes,
    private readonly keys: KeysService,
    private readonly transactions: Transactions,
  ) {}

  /**
   * The state comes first; only while nothing is decided does the pace matter.
   * @throws UnknownDeviceCode @throws AccessDenied @throws ExpiredToken @throws AuthorizationPending
   * @throws SlowDown @throws DeviceGone
   */
  async poll(deviceCode: string, { isGone, mayBeRepeated = false }: Poll): Promise<DeviceKeyResponse> {
    const hash = this.codes.hashOf(deviceCode);
    const leadSeconds = mayBeRepeated ? POLL_TOLERATED_SECONDS : 0;
    const [accepted] = await this.sessions.query<[unknown[], number]>(ACCEPT_POLL, [hash, leadSeconds]);
    if (accepted.length === 1) throw new AuthorizationPending();
    let state = await this.stateOf(hash);
    if (state === 'approved') {
      const key = await this.redeem(hash, isGone);
      if (key) return key;
      state = await this.stateOf(hash);
    }
    if (state === 'pending') throw new SlowDown();
    if (state === 'denied') throw new AccessDenied();
    throw new ExpiredToken();
  }

  /** Undefined for a session that is so old that it was purged. */
  private async stateOf(hash: Buffer): Promise<DeviceSession['state'] | undefined> {
    const [row] = await this.sessions.query<Pick<DeviceSession, 'state'>[]>(STATE, [hash]);
    return row?.state;
  }

  /**
   * Consumes the session and makes the key, or neither: a device that got no key may ask again, also one that has
   * given up waiting for this answer. Undefined when another poll was first, time is over, or the session was denied.
   */
  private redeem(hash: Buffer, isGone: Poll['isGone']): Promise<DeviceKeyResponse | undefined> {
    return this.transactions.run(async (transaction) => {
      const [[session]] = await transaction.query<[ApprovedSession[], number]>(CONSUME, [hash]);
      const key = session && (await this.mintOrDeny(session, transaction));
      if (isGone()) throw new DeviceGone();
      return key;
    });
  }

  /** Undefined, and the session is denied, when the approver is not a member any more. */
  private async mintOrDeny(
    session: ApprovedSession,
    transaction: EntityManager,
  ): Promise<DeviceKeyResponse | undefined> {
    const { id, name, hostname, organization_id: organizationId } = session;
    const user = approverOf(session);
    try {
      const fields = { name: name ?? hostname ?? KEY_NAME };
      const device = { name, hostname };
      const key = await this.keys.mintIn({ organizationId, user }, fields, device, transaction);
      return { api_key: key.api_key, issued_at_ms: Date.parse(key.created_at) };
    } catch (error) {
      if (!(error instanceof OrganizationNotFound)) throw error;
      await transaction.update(DeviceSession, { id }, { state: 'denied' });
      return undefined;
    }
  }
}

/** As far as we remember; whether the address is verified still matters for invitations only. */
function approverOf({ decided_by_user_id, decided_by_email }: ApprovedSession): SessionUser {
  return { id: decided_by_user_id, email: decided_by_email, emailVerified: false };
}
