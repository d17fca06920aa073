import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Metrics } from '../metrics/metrics.js';
import { poolOf } from './data-source.js';

/** Tells how much of the pool of connections is in use. */
@Injectable()
export class PoolMetrics {
  constructor(@InjectDataSource() dataSource: DataSource, metrics: Metrics) {
    const pool = poolOf(dataSource);
    metrics.gauge('mintkeep_database_busy_connections', 'Connections of the pool in use', () => {
      return pool.totalCount - pool.idleCount;
    });
    metrics.gauge('mintkeep_database_waiting_requests', 'Requests that wait for a connection', () => {
      return pool.waitingCount;
    });
  }
}
