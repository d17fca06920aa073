import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { Metrics } from '../metrics/metrics.js';

/** Tells how much of the pool of connections is in use. */
@Injectable()
export class PoolMetrics {
  constructor(@InjectDataSource() dataSource: DataSource, metrics: Metrics) {
    const pool = (dataSource.driver as unknown as { master: Pool }).master;
    metrics.gauge('mintkeep_database_busy_connections', 'Connections of the pool in use', () => {
      return pool.totalCount - pool.idleCount;
    });
    metrics.gauge('mintkeep_database_waiting_requests', 'Requests that wait for a connection', () => {
      return pool.waitingCount;
    });
  }
}
