import { Histogram } from 'prom-client';
import type { Registry } from 'prom-client';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

type Outcome = 'ok' | 'failed';

/** Metrics of calls to object storage and to the database. */
export class DependencyMetrics {
  private readonly storage: Histogram<'operation' | 'outcome'>;
  private readonly database: Histogram<'outcome'>;

  constructor(registry: Registry) {
    this.storage = new Histogram({
      name: 'mintkeep_storage_call_duration_seconds',
      help: 'Duration of calls to object storage',
      labelNames: ['operation', 'outcome'],
      buckets: SECONDS,
      registers: [registry],
    });
    this.database = new Histogram({
      name: 'mintkeep_database_query_duration_seconds',
      help: 'Duration of statements, without the wait for a connection',
      labelNames: ['outcome'],
      buckets: SECONDS,
      registers: [registry],
    });
  }

  storageCalled(operation: string, outcome: Outcome, seconds: number): void {
    this.storage.observe({ operation, outcome }, seconds);
  }

  /** Can be passed on as a function. */
  readonly databaseQueried = (outcome: Outcome, seconds: number): void => {
    this.database.observe({ outcome }, seconds);
  };
}
