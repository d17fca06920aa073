import { Injectable, Logger } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { errorMessage } from '../common/logging/error-message.js';
import { withTimeout } from '../common/async/with-timeout.js';
import { Metrics } from '../metrics/metrics.js';
import { JobTurns } from './job-turns.js';

/** Time limit for running jobs at shutdown. The next run does the rest of their work. */
const SHUTDOWN_TIMEOUT_MS = 5_000;

/** Periodic task, run by one replica at a time. */
export interface Job {
  /** Name in metrics, logs and the database, in `snake_case`. */
  readonly name: string;
  readonly everySeconds: number;
  /**
   * Runs the task; a promise is awaited. After the loss of a connection, another replica may start the task before this
   * run has ended.
   */
  readonly work: () => unknown;
}

/** Runs jobs on schedule, once across all replicas, and reports their outcome. */
@Injectable()
export class Jobs implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(Jobs.name);
  private readonly jobs = new Map<string, Job>();
  private readonly running = new Map<string, Promise<void>>();

  constructor(
    private readonly turns: JobTurns,
    private readonly metrics: Metrics,
    private readonly scheduler: SchedulerRegistry,
  ) {}

  /** Registers a job. Call it before the application has started: timers start with the application. */
  add(job: Job): void {
    if (this.jobs.has(job.name)) throw new Error(`there are two jobs of the name ${job.name}`);
    this.jobs.set(job.name, job);
  }

  onApplicationBootstrap(): void {
    for (const { name, everySeconds } of this.jobs.values()) {
      const timer = setInterval(() => void this.run(name), everySeconds * 1_000);
      this.scheduler.addInterval(name, timer.unref());
    }
  }

  async beforeApplicationShutdown(): Promise<void> {
    for (const name of this.jobs.keys()) {
      if (this.scheduler.doesExist('interval', name)) this.scheduler.deleteInterval(name);
    }
    await withTimeout(SHUTDOWN_TIMEOUT_MS, Promise.all(this.running.values())).catch(() => undefined);
  }

  /** Runs the job if it is this replica's turn, or waits for the present run on this replica. Never rejects. */
  run(name: string): Promise<void> {
    const running =
      this.running.get(name) ?? this.attempt(this.jobs.get(name)!).finally(() => this.running.delete(name));
    this.running.set(name, running);
    return running;
  }

  private async attempt({ name, everySeconds, work }: Job): Promise<void> {
    const startedAt = performance.now();
    const finished = (outcome: 'ok' | 'failed') =>
      this.metrics.jobs.finished(name, outcome, (performance.now() - startedAt) / 1_000);
    try {
      const done = await this.turns.take(name, everySeconds, async () => {
        await work();
      });
      if (done) finished('ok');
    } catch (error) {
      finished('failed');
      this.logger.warn({ job: name, reason: errorMessage(error) }, 'a job has failed');
    }
  }
}
