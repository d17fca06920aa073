import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { BeforeApplicationShutdown } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { within } from '../common/within.js';
import { Settings } from '../config/settings.js';
import { ObjectStore } from '../storage/object-store.js';
import type { CheckResult, ReadinessResponse } from './dto/health.response.js';

const CHECK_TIMEOUT_MS = 3_000;
/** Changes nothing, and fails where nothing may be changed. */
const MAY_WRITE = 'SELECT FROM replicas WHERE false FOR UPDATE';

/** Whether this replica should get requests. */
@Injectable()
export class HealthService implements BeforeApplicationShutdown {
  private shuttingDown = false;
  private running?: Promise<ReadinessResponse['checks']>;

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly store: ObjectStore,
    private readonly settings: Settings,
  ) {}

  /** Load balancers that ask get the time to notice before nothing more is accepted. */
  async beforeApplicationShutdown(): Promise<void> {
    this.shuttingDown = true;
    await pause(this.settings.shutdownDelayMs);
  }

  /** Everybody may ask: who does while the checks run gets what they find. */
  async check(): Promise<ReadinessResponse> {
    this.running ??= this.runChecks().finally(() => (this.running = undefined));
    const checks = await this.running;
    const healthy = checks.database === 'ok' && checks.object_storage === 'ok';
    return { status: this.shuttingDown ? 'shutting down' : healthy ? 'ok' : 'unavailable', checks };
  }

  private async runChecks(): Promise<ReadinessResponse['checks']> {
    const [database, object_storage] = await Promise.all([
      outcome(this.dataSource.query(MAY_WRITE)),
      outcome(this.store.check()),
    ]);
    return { database, object_storage };
  }
}

/** A check that takes long has failed, though what it waits for may still end later. */
function outcome(check: Promise<unknown>): Promise<CheckResult> {
  return within(CHECK_TIMEOUT_MS, check).then(
    () => 'ok',
    () => 'failed',
  );
}
