import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { withTimeout } from '../common/async/with-timeout.js';
import { DependencyMetrics } from './dependency-metrics.js';
import { HttpMetrics } from './http-metrics.js';
import { JobMetrics } from './job-metrics.js';
import { ProxyMetrics } from './proxy-metrics.js';

/** Time limit for reading one gauge, so that a slow one does not delay the others. */
const READ_TIMEOUT_MS = 2_000;

/**
 * Metrics of this replica for Prometheus. Values of labels are few and come from the code or from operators. Keys, users,
 * models and paths of requests are never labels.
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
      'Event streams that are being relayed',
      () => this.proxy.openStreams,
    );
  }

  /**
   * Adds a gauge that is read at each scrape and left out while it cannot be read.
   * @param name ends with the unit: `mintkeep_usage_queue_bytes`
   */
  gauge(name: string, help: string, read: () => number | Promise<number>): void {
    new Gauge({
      name,
      help,
      registers: [this.registry],
      async collect() {
        try {
          this.set(await withTimeout(READ_TIMEOUT_MS, read()));
        } catch {
          this.remove();
        }
      },
    });
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  /** All metrics in the text format of Prometheus. */
  text(): Promise<string> {
    return this.registry.metrics();
  }
}
