import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { BeforeApplicationShutdown } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { withTimeout } from '../common/async/with-timeout.js';
import { Settings } from '../config/settings.js';
import { Invalidations } from '../database/invalidation/invalidations.js';
import { ObjectStore } from '../storage/object-store.js';
import type { CheckResult, ReadinessResponse } from './dto/health.response.js';

const CHECK_TIMEOUT_MS = 3_000;
/** Changes nothing, but fails on a read-only database. */
const CHECK_WRITABLE = 'SELECT FROM replicas WHERE false FOR UPDATE';

/** Checks whether this replica should receive requests. */
@Injectable()
export class HealthService implements BeforeApplicationShutdown {
  private shuttingDown = false;
  private running?: Promise<ReadinessResponse['checks']>;

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly store: ObjectStore,
    private readonly invalidations: Invalidations,
    private readonly settings: Settings,
  ) {}

  /** Gives load balancers time to notice the shutdown before the server stops accepting connections. */
  async beforeApplicationShutdown(): Promise<void> {
    this.shuttingDown = true;
    await pause(this.settings.shutdownDelayMs);
  }

  /** Runs the checks. Concurrent callers share one run, because the route is open to everybody. */
  async check(): Promise<ReadinessResponse> {
    this.running ??= this.runChecks().finally(() => (this.running = undefined));
    const checks = await this.running;
    const healthy = checks.database === 'ok' && checks.object_storage === 'ok';
    return { status: this.shuttingDown ? 'shutting down' : healthy ? 'ok' : 'unavailable', checks };
  }

  /**
   * Checks whether the proxy can serve known keys: the database responds, or it did less than `KEY_GRACE_SECONDS` ago.
   * Runs no query, so that an unreachable database does not delay the response.
   */
  checkProxy(): ReadinessResponse {
    const { hasLease, lastHeartbeatAt } = this.invalidations;
    const isInGrace = performance.now() - lastHeartbeatAt < this.settings.keyGraceSeconds * 1_000;
    const status = this.shuttingDown ? 'shutting down' : hasLease || isInGrace ? 'ok' : 'unavailable';
    return { status, checks: { database: hasLease ? 'ok' : 'failed' } };
  }

  private async runChecks(): Promise<ReadinessResponse['checks']> {
    const [database, object_storage] = await Promise.all([
      toCheckResult(this.dataSource.query(CHECK_WRITABLE)),
      toCheckResult(this.store.check()),
    ]);
    return { database, object_storage };
  }
}

/** `failed` after {@link CHECK_TIMEOUT_MS}, although the check itself may still complete later. */
function toCheckResult(check: Promise<unknown>): Promise<CheckResult> {
  return withTimeout(CHECK_TIMEOUT_MS, check).then(
    () => 'ok',
    () => 'failed',
  );
}
