import { errorBody } from '../common/error.filter.js';
import { NoAdminToken } from '../health/health.errors.js';
import { headers } from './headers.js';
import { schemaOf } from './json-schema.js';
import type { Json } from './json-schema.js';

/** `/metrics` answers with text, and takes a credential of its own: no other route is like it. */
export function metricsPath(): Record<string, Json> {
  return { '/metrics': { get: metrics() } };
}

function metrics(): Json {
  const refusal = new NoAdminToken();
  const example = errorBody(refusal.message);
  return {
    ...{ operationId: 'getMetrics', summary: 'Metrics for Prometheus', tags: ['Operation'] },
    description: 'Open to everybody where `ADMIN_TOKEN` is not set.',
    security: [{ adminToken: [] }],
    responses: {
      200: {
        ...{ description: 'Counters and histograms.', headers: headers(['Cache-Control']) },
        content: {
          'text/plain': { schema: { type: 'string' }, example: '# TYPE process_cpu_seconds_total counter\n' },
        },
      },
      [refusal.status]: {
        ...{ description: `- ${refusal.message}`, headers: headers(Object.keys(refusal.headers)) },
        content: { 'application/json': { schema: schemaOf([example]), example } },
      },
    },
  };
}
