import { Code, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { formatMs, formatNumber } from './format';
import type { UsageRequest } from './queries';

const PERCENT = 100;
/** Shortest bar in percent, so that fast attempts stay visible. */
const MIN_WIDTH = 1;

/** Figures of a request, and a timeline of its attempts. */
export function RequestDetails({ request }: { request: UsageRequest }): ReactNode {
  const { attempts, latency_ms: total } = request;
  return (
    <Stack gap="xs" px="md" pb="md">
      {attempts.length === 0 && <Text size="sm">No upstream was tried.</Text>}
      <ol className="timeline" aria-label="Attempts">
        {attempts.map((attempt, index) => (
          <li key={index}>
            <Text size="sm">
              {attempt.upstream_name}: {attempt.error ?? `status ${attempt.status}`} after{' '}
              {formatMs(attempt.ms)}
            </Text>
            <div className="bar-track">
              <div
                className="bar"
                data-failed={attempt.error !== null || (attempt.status ?? 0) >= 400 || undefined}
                style={{
                  marginLeft: `${percent(startOf(request, index), total)}%`,
                  width: `${Math.max(MIN_WIDTH, percent(attempt.ms, total))}%`,
                }}
              />
            </div>
          </li>
        ))}
      </ol>
      <Text size="sm" c="dimmed">
        {request.outcome}, {formatNumber(request.input_tokens)} input tokens (
        {formatNumber(request.cached_input_tokens)} cached), {formatNumber(request.output_tokens)} output
        tokens, first token after {formatMs(request.ttft_ms)}. Request <Code>{request.request_id}</Code>
      </Text>
    </Stack>
  );
}

/** Attempts follow each other, so that each starts when those before it have ended. */
function startOf({ attempts }: UsageRequest, index: number): number {
  return attempts.slice(0, index).reduce((sum, { ms }) => sum + ms, 0);
}

function percent(part: number, whole: number): number {
  return whole <= 0 ? 0 : Math.min(PERCENT, (part / whole) * PERCENT);
}
