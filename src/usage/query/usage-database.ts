import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { errorMessage } from '../../common/logging/error-message.js';
import { SettingsError } from '../../config/environment.js';
import { Settings } from '../../config/settings.js';
import { standbyOptions } from '../../database/connection/data-source.js';
import { assertSessionSettings } from '../../database/connection/database-check.js';
import { createObservedClient } from '../../database/connection/pool-client.js';
import { isStatementTimeout } from '../../database/connection/sql-states.js';
import { Metrics } from '../../metrics/metrics.js';

/** Ten times as long as the summary of a year at 1,000 requests a second by day and model. */
export const QUERY_TIMEOUT_MS = 10_000;
/** Time after which an unresponsive standby counts as lost. PostgreSQL cancels statements earlier. */
const RESPONSE_TIMEOUT_MS = QUERY_TIMEOUT_MS + 2_000;
/** Share of a replica's database connections. */
export const SHARE_OF_CONNECTIONS = 0.4;
/** Time for which all queries go to the primary after the standby failed. */
const STANDBY_PAUSE_MS = 10_000;

const SYSTEM = 'SELECT id FROM system_identity';

/** Number of usage queries that a replica runs at a time. */
export function concurrentQueries({ databasePoolSize }: Settings): number {
  return Math.max(1, Math.floor(SHARE_OF_CONNECTIONS * databasePoolSize));
}

/**
 * Runs queries of usage on the standby of `USAGE_DATABASE_URL`, if there is one. While the standby fails, they run on
 * the primary. Results of a standby lag behind by its replication delay.
 */
@Injectable()
export class UsageDatabase implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(UsageDatabase.name);
  private standby?: Promise<DataSource>;
  private hasFailed = false;
  /** Time until which the standby is not tried, as `performance.now()`. */
  private pausedUntil = -Infinity;

  constructor(
    @InjectDataSource() private readonly primary: DataSource,
    private readonly settings: Settings,
    private readonly metrics: Metrics,
  ) {
    if (settings.usageDatabaseUrl === undefined) return;
    metrics.gauge(
      'mintkeep_usage_standby_up',
      'Whether the last query of usage on the standby succeeded',
      () => Number(!this.hasFailed),
    );
  }

  /** Checks the standby. A start does not depend on one that is away. @throws SettingsError when it is unsuitable */
  async onModuleInit(): Promise<void> {
    if (this.settings.usageDatabaseUrl === undefined) return;
    try {
      await this.connect(this.settings.usageDatabaseUrl);
    } catch (error) {
      if (error instanceof SettingsError) throw error;
      this.onFailure(error);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    const standby = await this.standby?.catch(() => undefined);
    await standby?.destroy();
  }

  /** Runs `work`, which only reads, in a transaction. It runs a second time, on the primary, if the standby fails. */
  async read<T>(work: (transaction: EntityManager) => Promise<T>): Promise<T> {
    const { usageDatabaseUrl } = this.settings;
    if (usageDatabaseUrl === undefined || performance.now() < this.pausedUntil)
      return this.primary.transaction(work);
    const standby = await this.connect(usageDatabaseUrl).catch((error: unknown) => this.onFailure(error));
    if (!standby) return this.primary.transaction(work);
    try {
      const result = await standby.transaction(work);
      this.onSuccess();
      return result;
    } catch (error) {
      if (isStatementTimeout(error)) throw error;
      await this.onFailedQuery(standby, error);
      return this.primary.transaction(work);
    }
  }

  /**
   * Finds out whether the standby is still there. A replayed change may cancel a query, or end its connection; other
   * connections then still work.
   */
  private async onFailedQuery(standby: DataSource, error: unknown): Promise<void> {
    const reason = errorMessage(error);
    this.logger.warn({ reason }, 'a query of usage failed on the standby and runs on the primary');
    await standby.query('SELECT 1').catch((lost: unknown) => this.onFailure(lost));
  }

  /** Connects once. A failed attempt is repeated by the next call. */
  private connect(url: string): Promise<DataSource> {
    this.standby ??= this.open(url).catch((error: unknown) => {
      this.standby = undefined;
      throw error;
    });
    return this.standby;
  }

  private async open(url: string): Promise<DataSource> {
    const Client = createObservedClient(RESPONSE_TIMEOUT_MS, this.metrics.dependencies.databaseQueried);
    const standby = new DataSource(standbyOptions(url, concurrentQueries(this.settings), Client));
    await standby.initialize();
    try {
      await assertSessionSettings(standby, 'USAGE_DATABASE_URL');
      await this.assertSameSystem(standby);
      return standby;
    } catch (error) {
      await standby.destroy();
      throw error;
    }
  }

  /** @throws SettingsError when the server has the data of another system */
  private async assertSameSystem(standby: DataSource): Promise<void> {
    const [[own], [found]] = await Promise.all([
      this.primary.query<{ id: string }[]>(SYSTEM),
      standby.query<{ id: string }[]>(SYSTEM),
    ]);
    if (own?.id === found?.id) return;
    throw new SettingsError(
      'USAGE_DATABASE_URL names a database of another system: name a standby of DATABASE_URL',
    );
  }

  private onSuccess(): void {
    if (this.hasFailed) this.logger.log('the standby for usage is back');
    this.hasFailed = false;
  }

  private onFailure(error: unknown): void {
    this.pausedUntil = performance.now() + STANDBY_PAUSE_MS;
    if (!this.hasFailed)
      this.logger.warn(
        { reason: errorMessage(error) },
        'the standby for usage failed: queries go to the primary',
      );
    this.hasFailed = true;
  }
}
