import type { Registry } from 'prom-client';
import { Durations } from './durations.js';

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Requests to everything but the proxy. */
export class HttpMetrics {
  private readonly duration: Durations;

  constructor(registry: Registry) {
    this.duration = new Durations(registry, {
      name: 'mintkeep_http_request_duration_seconds',
      help: 'Requests from their arrival to the end of the answer',
      labelNames: ['method', 'route', 'status'],
      bounds: SECONDS,
    });
  }

  /** @param route the pattern that matched, `/me/projects/:projectId`; never the path that was sent */
  finished(method: string, route: string, status: number, seconds: number): void {
    this.duration.observe(seconds, method, route, String(status));
  }
}
