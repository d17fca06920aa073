import { errorBody } from '../common/api/error.filter.js';
import { AdminTokenRequired } from '../health/health.errors.js';
import type { Settings } from '../config/settings.js';
import { headers } from './headers.js';
import { inferSchema } from './json-schema.js';
import type { Json } from './json-schema.js';
import { describeConnectionRejections } from './responses.js';

/** Describes `/metrics`. Unlike all other routes, it returns text and has a credential of its own. */
export function metricsPath({ adminToken }: Settings): Record<string, Json> {
  return { '/metrics': { get: metrics(adminToken !== undefined) } };
}

function metrics(needsToken: boolean): Json {
  return {
    operationId: 'getMetrics',
    summary: 'Metrics for Prometheus',
    tags: ['Operation'],
    description:
      'Without `ADMIN_TOKEN`, the route is open to everybody. In production it then does not exist.',
    security: [{ adminToken: [] }, ...(needsToken ? [] : [{}])],
    responses: {
      200: {
        description: 'Counters and histograms.',
        headers: headers(['Cache-Control']),
        content: {
          'text/plain': { schema: { type: 'string' }, example: '# TYPE process_cpu_seconds_total counter\n' },
        },
      },
      ...describeRejection(),
      ...describeConnectionRejections(),
    },
  };
}

function describeRejection(): Json {
  const rejection = new AdminTokenRequired();
  const example = errorBody(rejection.message);
  return {
    [rejection.status]: {
      description: `- ${rejection.message}`,
      headers: headers(Object.keys(rejection.headers)),
      content: { 'application/json': { schema: inferSchema([example]), example } },
    },
  };
}
