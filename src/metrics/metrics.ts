import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { within } from '../common/within.js';
import { DependencyMetrics } from './dependency-metrics.js';
import { HttpMetrics } from './http-metrics.js';
import { JobMetrics } from './job-metrics.js';
import { ProxyMetrics } from './proxy-metrics.js';

/** A figure that takes longer is left out, so that the others are told in time. */
const READ_TIMEOUT_MS = 2_000;

/**
 * What this replica tells Prometheus. Labels have few values, all of our own making or an operator's: never a
 * key, a user, a model, or a path as it was sent.
 */
@Injectable()
export class Metrics {
  private readonly registry = new Registry();
  readonly http = new HttpMetrics(this.registry);
  readonly proxy = new ProxyMetrics(this.registry);
  readonly dependencies = new DependencyMetrics(this.registry);
  readonly jobs = new JobMetrics(this.registry);

  constructor() {
    collectDefaultMetrics({ register: this.registry });
    this.gauge(
      'mintkeep_proxy_open_streams',
      'Event streams that are being passed on',
      () => this.proxy.openStreams,
    );
  }

  /**
   * A figure that is read when it is asked for; left out while it cannot be read.
   * @param name with the unit at its end, `mintkeep_usage_queue_bytes`
   */
  gauge(name: string, help: string, read: () => number | Promise<number>): void {
    new Gauge({
      ...{ name, help, registers: [this.registry] },
      async collect() {
        try {
          this.set(await within(READ_TIMEOUT_MS, read()));
        } catch {
          this.remove();
        }
      },
    });
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  /** Everything, as Prometheus reads it. */
  text(): Promise<string> {
    return this.registry.metrics();
  }
}
