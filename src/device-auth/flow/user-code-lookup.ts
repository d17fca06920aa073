import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import type { SessionUser } from '../../auth/session-user.js';
import { toNetwork } from './client-address.js';
import { InvalidUserCode, RateLimited } from './device-auth.errors.js';
import { DeviceSession } from './device-session.entity.js';
import { ADD_HITS, RETRY_AFTER } from './rate-limits.js';
import { parseUserCode, UserCodes } from './user-codes.js';

export const GUESSES_PER_USER = 10;
export const GUESSES_PER_NETWORK = 30;
export const GUESS_WINDOW_SECONDS = 600;
const WINDOW_END = `clock_timestamp() + make_interval(secs => ${GUESS_WINDOW_SECONDS})`;

/** The person who typed a code. */
export interface CodeTyper {
  readonly user: SessionUser;
  /** IP address. */
  readonly address: string;
}

/** A device's request, as shown to the person who decides. */
export interface DeviceRequest {
  readonly id: number;
  readonly userCode: string;
  readonly name: string | null;
  readonly hostname: string | null;
  readonly address: string;
  /** Whether the person's address is in the same network as the device's. */
  readonly sameAddress: boolean;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly askedSecondsAgo: number;
  readonly secondsLeft: number;
}

/** Always one row, with nulls if there is no session. */
interface Row {
  /** Set when the limit was reached before this. */
  retry_after: number | null;
  id: number | null;
  state: DeviceSession['state'];
  name: string | null;
  hostname: string | null;
  ip: string;
  created_at: string;
  expires_at: string;
  asked_seconds_ago: number;
  seconds_left: number;
}

/**
 * Finds the session and counts the attempt in one statement. A wrong code adds one, a right code adds nothing, and
 * both return the previous count. Concurrent guesses therefore cannot exceed the limit. The user's counter is
 * checked first: a user over their own limit does not use up the limit of everybody behind the same address.
 */
const FIND = `
  WITH found AS (
    SELECT id, state, name, hostname, ip, created_at, expires_at,
      extract(epoch FROM clock_timestamp() - created_at)::int AS asked_seconds_ago,
      extract(epoch FROM expires_at - clock_timestamp())::int AS seconds_left
    FROM device_sessions WHERE user_code_hmac = ANY($1) AND expires_at > clock_timestamp()
  ), attempt AS (
    SELECT CASE WHEN EXISTS (SELECT FROM found) THEN 0 ELSE 1 END AS wrong
  ), user_counter AS (
    INSERT INTO rate_limits AS r (key, hits, resets_at)
    SELECT $2, wrong, ${WINDOW_END} FROM attempt
    ${ADD_HITS} RETURNING hits, resets_at
  ), rejected_user AS (
    SELECT ${RETRY_AFTER} AS retry_after FROM user_counter, attempt WHERE hits - wrong >= ${GUESSES_PER_USER}
  ), network_counter AS (
    INSERT INTO rate_limits AS r (key, hits, resets_at)
    SELECT $3, wrong, ${WINDOW_END} FROM attempt WHERE NOT EXISTS (SELECT FROM rejected_user)
    ${ADD_HITS} RETURNING hits, resets_at
  ), rejected_network AS (
    SELECT ${RETRY_AFTER} AS retry_after FROM network_counter, attempt WHERE hits - wrong >= ${GUESSES_PER_NETWORK}
  )
  SELECT coalesce((SELECT retry_after FROM rejected_user), (SELECT retry_after FROM rejected_network)) AS retry_after,
    found.*
  FROM attempt LEFT JOIN found ON true`;

/** Finds the request for a typed user code, and limits wrong guesses. */
@Injectable()
export class UserCodeLookup {
  constructor(
    @InjectRepository(DeviceSession) private readonly sessions: Repository<DeviceSession>,
    private readonly codes: UserCodes,
  ) {}

  /**
   * The pending request with this code. A code that was already decided is invalid, but does not count as a wrong
   * guess, because the person may have lost a race.
   * @throws RateLimited after too many wrong codes, even for a right one
   * @throws InvalidUserCode
   */
  async find(typer: CodeTyper, typed: string): Promise<DeviceRequest> {
    const userCode = parseUserCode(typed);
    const row = await this.findAndCount(typer, userCode);
    if (row.retry_after !== null) throw new RateLimited(row.retry_after);
    if (userCode === undefined || row.id === null || row.state !== 'pending') throw new InvalidUserCode();
    return {
      id: row.id,
      userCode,
      name: row.name,
      hostname: row.hostname,
      address: row.ip,
      sameAddress: toNetwork(row.ip) === toNetwork(typer.address),
      createdAt: row.created_at,
      expiresAt: row.expires_at,
      askedSecondsAgo: row.asked_seconds_ago,
      secondsLeft: row.seconds_left,
    };
  }

  private async findAndCount({ user, address }: CodeTyper, userCode: string | undefined): Promise<Row> {
    const [row] = await this.sessions.query<Row[]>(FIND, [
      userCode === undefined ? [] : this.codes.hmacs(userCode),
      `user-codes:user:${user.id}`,
      `user-codes:network:${toNetwork(address)}`,
    ]);
    return row!;
  }
}
