import type { Registry } from 'prom-client';
import { Durations } from './durations.js';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

type Outcome = 'ok' | 'failed';

/** What the service waits for. */
export class DependencyMetrics {
  private readonly storage: Durations;
  private readonly database: Durations;

  constructor(registry: Registry) {
    this.storage = new Durations(registry, {
      name: 'mintkeep_storage_call_duration_seconds',
      help: 'Calls to object storage',
      labelNames: ['operation', 'outcome'],
      bounds: SECONDS,
    });
    this.database = new Durations(registry, {
      name: 'mintkeep_database_query_duration_seconds',
      help: 'Statements, without the wait for a connection',
      labelNames: ['outcome'],
      bounds: SECONDS,
    });
  }

  storageCalled(operation: string, outcome: Outcome, seconds: number): void {
    this.storage.observe(seconds, operation, outcome);
  }

  databaseQueried(outcome: Outcome, seconds: number): void {
    this.database.observe(seconds, outcome);
  }
}
