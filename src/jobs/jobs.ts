import { Injectable, Logger } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { messagesOf } from '../common/messages-of.js';
import { within } from '../common/within.js';
import { Metrics } from '../metrics/metrics.js';
import { JobTurns } from './job-turns.js';

/** How long the end of the service waits for the jobs that are running. What they leave undone is done the next time. */
const SHUTDOWN_TIMEOUT_MS = 5_000;

/** Something to be done again and again, by one replica at a time. */
export interface Job {
  /** `snake_case`: the name in figures and logs, and of its row. */
  readonly name: string;
  readonly everySeconds: number;
  /**
   * What it returns is waited for. Throws when it could not do what it is for. May be begun again before it has
   * ended, should a connection be lost.
   */
  readonly work: () => unknown;
}

/** Runs jobs on schedule, once across all replicas, and tells how they went. */
@Injectable()
export class Jobs implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(Jobs.name);
  private readonly jobs = new Map<string, Job>();
  private readonly timers: NodeJS.Timeout[] = [];
  private readonly running = new Map<string, Promise<void>>();

  constructor(
    private readonly turns: JobTurns,
    private readonly metrics: Metrics,
  ) {}

  /** To be called while the application is put together: jobs begin when it is complete. */
  add(job: Job): void {
    if (this.jobs.has(job.name)) throw new Error(`there are two jobs of the name ${job.name}`);
    this.jobs.set(job.name, job);
  }

  onApplicationBootstrap(): void {
    for (const { name, everySeconds } of this.jobs.values()) {
      const timer = setInterval(() => void this.run(name), everySeconds * 1_000);
      this.timers.push(timer.unref());
    }
  }

  async beforeApplicationShutdown(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    await within(SHUTDOWN_TIMEOUT_MS, Promise.all(this.running.values())).catch(() => undefined);
  }

  /** Does the job if it is this replica's turn. Never fails; a job that is running here is waited for instead. */
  run(name: string): Promise<void> {
    const running =
      this.running.get(name) ?? this.attempt(this.jobs.get(name)!).finally(() => this.running.delete(name));
    this.running.set(name, running);
    return running;
  }

  private async attempt({ name, everySeconds, work }: Job): Promise<void> {
    const beganAt = performance.now();
    const finished = (outcome: 'ok' | 'failed') =>
      this.metrics.jobs.finished(name, outcome, (performance.now() - beganAt) / 1_000);
    try {
      const done = await this.turns.take(name, everySeconds, async () => {
        await work();
      });
      if (done) finished('ok');
    } catch (error) {
      finished('failed');
      this.logger.warn({ job: name, reason: messagesOf(error) }, 'a job has failed');
    }
  }
}
