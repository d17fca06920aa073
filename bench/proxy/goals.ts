import type { Goal } from '../support/goals.js';

/** Goals for the reference version of Node. The ratios of two subjects are medians over the rounds. */
export const GOALS = {
  rateToPortkey: { figure: 'requests/s', direction: 'at least', limit: 9, unit: '× Portkey' },
  rateToNginx: { figure: 'requests/s', direction: 'at least', limit: 0.33, unit: '× nginx' },
  cpuToNginx: { figure: 'CPU per request', direction: 'at most', limit: 3, unit: '× nginx' },
  cpuToPortkey: { figure: 'CPU per request', direction: 'at most', limit: 0.09, unit: '× Portkey' },
  addedLatency: {
    figure: 'added latency at 500 requests/s, p50',
    direction: 'at most',
    limit: 2.2,
    unit: '× nginx',
  },
  addedFirstByte: {
    figure: 'added time to the first byte of a stream, p50',
    direction: 'at most',
    limit: 0.6,
    unit: 'ms',
  },
  chunkToNginx: { figure: 'CPU per relayed chunk', direction: 'at most', limit: 2, unit: '× nginx' },
  chunkToPortkey: { figure: 'CPU per relayed chunk', direction: 'at most', limit: 0.45, unit: '× Portkey' },
  largeResponse: { figure: 'CPU per 100 KiB response', direction: 'at most', limit: 3.2, unit: '× nginx' },
  limits: {
    figure: 'CPU per request with a model rule, limits on three levels and costs',
    direction: 'at most',
    limit: 1.1,
    unit: '× without',
  },
  withoutLimits: {
    figure: 'CPU per request without limits',
    direction: 'at most',
    limit: 1.03,
    unit: '× the version of --baseline',
  },
  lostRecords: {
    figure: 'requests rejected, or with a wrong number of usage records, in an outage and a crash',
    direction: 'at most',
    limit: 0,
    unit: 'requests',
  },
  streamMemory: { figure: 'memory of an open stream', direction: 'at most', limit: 60, unit: 'KiB' },
  streamGrowth: {
    figure: 'growth of an open stream in the second half of the run',
    direction: 'at most',
    limit: 2,
    unit: 'KiB',
  },
} as const satisfies Record<string, Goal>;
