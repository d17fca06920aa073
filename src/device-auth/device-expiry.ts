import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Jobs } from '../jobs/jobs.js';
import { DeviceSession } from './device-session.entity.js';

const KEPT_AFTER_EXPIRY = `interval '1 hour'`;

const EXPIRE = `
  UPDATE device_sessions SET state = 'expired' WHERE id IN (
    SELECT id FROM device_sessions
    WHERE user_code_hmac IS NOT NULL AND state IN ('pending', 'approved') AND expires_at <= clock_timestamp()
    FOR UPDATE SKIP LOCKED
  )`;

/** A device code that is not found has expired: that goes for all of these. */
const PURGE = `
  DELETE FROM device_sessions WHERE user_code_hmac IS NOT NULL AND state IN ('expired', 'consumed')
    AND expires_at < clock_timestamp() - ${KEPT_AFTER_EXPIRY}`;

/** Who polls a denied session is told so for ever; that takes the hash of the device code and nothing else. */
const FORGET_DENIED = `
  UPDATE device_sessions SET user_code_hmac = NULL, name = NULL, hostname = NULL, ip = NULL, organization_id = NULL,
    decided_by_user_id = NULL, decided_by_email = NULL, decided_at = NULL, last_polled_at = NULL
  WHERE user_code_hmac IS NOT NULL AND state = 'denied' AND expires_at < clock_timestamp() - ${KEPT_AFTER_EXPIRY}`;

/** Passes over what is being counted right now, rather than waiting in another order. */
const CLEAR_LIMITS = `
  DELETE FROM rate_limits WHERE key IN (
    SELECT key FROM rate_limits WHERE resets_at <= clock_timestamp() FOR UPDATE SKIP LOCKED
  )`;

/** Clears away what is over. Changes no answer. */
@Injectable()
export class DeviceExpiry {
  constructor(
    @InjectRepository(DeviceSession) private readonly sessions: Repository<DeviceSession>,
    jobs: Jobs,
  ) {
    jobs.add({ name: 'clear_device_sessions', everySeconds: 60, work: () => this.run() });
  }

  async run(): Promise<void> {
    for (const statement of [EXPIRE, PURGE, FORGET_DENIED, CLEAR_LIMITS])
      await this.sessions.query(statement);
  }
}
