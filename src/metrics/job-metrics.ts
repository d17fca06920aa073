import { Counter, Gauge, Histogram } from 'prom-client';
import type { Registry } from 'prom-client';

const SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300];

/** Metrics of the jobs that this replica ran. */
export class JobMetrics {
  private readonly runs: Counter<'job' | 'outcome'>;
  private readonly duration: Histogram<'job'>;
  private readonly lastSuccess: Gauge<'job'>;

  constructor(registry: Registry) {
    this.runs = new Counter({
      name: 'mintkeep_job_runs_total',
      help: 'Runs of jobs on this replica',
      labelNames: ['job', 'outcome'],
      registers: [registry],
    });
    this.duration = new Histogram({
      name: 'mintkeep_job_duration_seconds',
      help: 'Duration of runs of jobs',
      labelNames: ['job'],
      buckets: SECONDS,
      registers: [registry],
    });
    this.lastSuccess = new Gauge({
      name: 'mintkeep_job_last_success_timestamp_seconds',
      help: 'Unix time of the last successful run of a job on this replica',
      labelNames: ['job'],
      registers: [registry],
    });
  }

  finished(job: string, outcome: 'ok' | 'failed', seconds: number): void {
    this.runs.inc({ job, outcome });
    this.duration.observe({ job }, seconds);
    if (outcome === 'ok') this.lastSuccess.set({ job }, Date.now() / 1_000);
  }
}
