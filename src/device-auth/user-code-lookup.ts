import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import type { SessionUser } from '../auth/session-user.js';
import { networkOf } from './client-address.js';
import { InvalidUserCode, RateLimited } from './device-auth.errors.js';
import { DeviceSession } from './device-session.entity.js';
import { ADD_HITS, RETRY_AFTER } from './rate-limits.js';
import { parseUserCode, UserCodes } from './user-codes.js';

const GUESSES_PER_USER = 10;
const GUESSES_PER_NETWORK = 30;
const GUESS_WINDOW_SECONDS = 600;
const WINDOW_END = `clock_timestamp() + make_interval(secs => ${GUESS_WINDOW_SECONDS})`;

/** Who typed a code, and where. */
export interface CodeTyper {
  readonly user: SessionUser;
  /** IP address. */
  readonly address: string;
}

/** What a device wants, as the person is told who decides. */
export interface DeviceRequest {
  readonly id: number;
  readonly userCode: string;
  readonly name: string | null;
  readonly hostname: string | null;
  readonly address: string;
  /** Whether the person comes from where the device does. */
  readonly sameAddress: boolean;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly askedSecondsAgo: number;
  readonly secondsLeft: number;
}

/** One row, whether there is a session or not. */
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
 * Finds the session and counts the attempt in one statement: a code that is wrong adds one, a right one nothing,
 * and both learn how many there were before. So of any number of guesses at the same time, those within the
 * limit are answered and no more. The user's counter comes first: who has used up their own is refused, and does not
 * use up those of everybody behind the same address.
 */
const FIND = `
  WITH found AS (
    SELECT id, state, name, hostname, ip, created_at, expires_at,
      extract(epoch FROM clock_timestamp() - created_at)::int AS asked_seconds_ago,
      extract(epoch FROM expires_at - clock_timestamp())::int AS seconds_left
    FROM device_sessions WHERE user_code_hmac = ANY($1) AND expires_at > clock_timestamp()
  ), attempt AS (
    SELECT CASE WHEN EXISTS (SELECT FROM found) THEN 0 ELSE 1 END AS wrong
  ), of_user AS (
    INSERT INTO rate_limits AS r (key, hits, resets_at)
    SELECT $2, wrong, ${WINDOW_END} FROM attempt
    ${ADD_HITS} RETURNING hits, resets_at
  ), refused_user AS (
    SELECT ${RETRY_AFTER} AS retry_after FROM of_user, attempt WHERE hits - wrong >= ${GUESSES_PER_USER}
  ), of_network AS (
    INSERT INTO rate_limits AS r (key, hits, resets_at)
    SELECT $3, wrong, ${WINDOW_END} FROM attempt WHERE NOT EXISTS (SELECT FROM refused_user)
    ${ADD_HITS} RETURNING hits, resets_at
  ), refused_network AS (
    SELECT ${RETRY_AFTER} AS retry_after FROM of_network, attempt WHERE hits - wrong >= ${GUESSES_PER_NETWORK}
  )
  SELECT coalesce((SELECT retry_after FROM refused_user), (SELECT retry_after FROM refused_network)) AS retry_after,
    found.*
  FROM attempt LEFT JOIN found ON true`;

/** Finds what a person has typed the code of, and keeps people from trying codes. */
@Injectable()
export class UserCodeLookup {
  constructor(
    @InjectRepository(DeviceSession) private readonly sessions: Repository<DeviceSession>,
    private readonly codes: UserCodes,
  ) {}

  /**
   * The request that waits for a decision under this code. One that was decided is as good as unknown, but not
   * held against the typer, who may just have lost a race.
   * @throws RateLimited after too many wrong codes, also for a right one
   * @throws InvalidUserCode
   */
  async find(typer: CodeTyper, typed: string): Promise<DeviceRequest> {
    const userCode = parseUserCode(typed);
    const row = await this.findAndCount(typer, userCode);
    if (row.retry_after !== null) throw new RateLimited(row.retry_after);
    if (userCode === undefined || row.id === null || row.state !== 'pending') throw new InvalidUserCode();
    return {
      ...{ id: row.id, userCode, name: row.name, hostname: row.hostname },
      ...{ address: row.ip, sameAddress: networkOf(row.ip) === networkOf(typer.address) },
      ...{ createdAt: row.created_at, expiresAt: row.expires_at },
      ...{ askedSecondsAgo: row.asked_seconds_ago, secondsLeft: row.seconds_left },
    };
  }

  private async findAndCount({ user, address }: CodeTyper, userCode: string | undefined): Promise<Row> {
    const [row] = await this.sessions.query<Row[]>(FIND, [
      userCode === undefined ? [] : this.codes.hmacs(userCode),
      `user-codes:user:${user.id}`,
      `user-codes:network:${networkOf(address)}`,
    ]);
    return row!;
  }
}
