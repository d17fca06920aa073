import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Jobs } from '../jobs/jobs.js';
import { DeviceSession } from './device-session.entity.js';

const KEPT_AFTER_EXPIRY = `interval '1 hour'`;

const EXPIRE = `
  UPDATE device_sessions SET state = 'expired' WHERE id IN (
    SELECT id FROM device_sessions
    WHERE state IN ('pending', 'approved') AND expires_at <= clock_timestamp()
    FOR UPDATE SKIP LOCKED
  )`;

/** A device code that is not found has expired. So has a denied one by then: its device was to ask for 10 minutes. */
const PURGE = `DELETE FROM device_sessions WHERE expires_at < clock_timestamp() - ${KEPT_AFTER_EXPIRY}`;

/** Passes over what is being counted right now, rather than waiting in another order. */
const CLEAR_LIMITS = `
  DELETE FROM rate_limits WHERE key IN (
    SELECT key FROM rate_limits WHERE resets_at <= clock_timestamp() FOR UPDATE SKIP LOCKED
  )`;

/** Clears away what is over. */
@Injectable()
export class DeviceExpiry {
  constructor(
    @InjectRepository(DeviceSession) private readonly sessions: Repository<DeviceSession>,
    jobs: Jobs,
  ) {
    jobs.add({ name: 'clear_device_sessions', everySeconds: 60, work: () => this.run() });
  }

  async run(): Promise<void> {
    for (const statement of [EXPIRE, PURGE, CLEAR_LIMITS]) await this.sessions.query(statement);
  }
}
