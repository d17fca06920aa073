import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import { Durations } from './durations.js';

const SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300];

/** Jobs, counted where they ran: a run of one replica is none of the others'. */
export class JobMetrics {
  private readonly runs: Counter<'job' | 'outcome'>;
  private readonly duration: Durations;
  private readonly lastSuccess: Gauge<'job'>;

  constructor(registry: Registry) {
    this.runs = new Counter({
      name: 'mintkeep_job_runs_total',
      help: 'Runs of jobs on this replica',
      labelNames: ['job', 'outcome'],
      registers: [registry],
    });
    this.duration = new Durations(registry, {
      name: 'mintkeep_job_duration_seconds',
      help: 'How long runs of jobs took',
      labelNames: ['job'],
      bounds: SECONDS,
    });
    this.lastSuccess = new Gauge({
      name: 'mintkeep_job_last_success_timestamp_seconds',
      help: 'When a job last came to a good end on this replica, as Unix time',
      labelNames: ['job'],
      registers: [registry],
    });
  }

  finished(job: string, outcome: 'ok' | 'failed', seconds: number): void {
    this.runs.inc({ job, outcome });
    this.duration.observe(seconds, job);
    if (outcome === 'ok') this.lastSuccess.set({ job }, Date.now() / 1_000);
  }
}
