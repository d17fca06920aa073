import { Code, SimpleGrid, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { formatMs, formatNumber, formatUsd } from './format';
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
      <SimpleGrid component="dl" className="figures" cols={{ base: 2, xs: 3, sm: 4 }} spacing="sm">
        {figuresOf(request).map(([label, value]) => (
          <div key={label}>
            <Text component="dt" size="xs" c="dimmed">
              {label}
            </Text>
            <Text component="dd" size="sm" className="wrap-anywhere">
              {value}
            </Text>
          </div>
        ))}
      </SimpleGrid>
      <Text size="xs" c="dimmed" className="wrap-anywhere">
        Request <Code>{request.request_id}</Code>
      </Text>
    </Stack>
  );
}

const PRICE_SOURCES: Record<UsageRequest['price_source'], string> = {
  own: 'own price',
  list: 'price list',
  none: '',
};

/** Labels and values. The name that the upstream got is shown only if it differs from the requested one. */
function figuresOf(request: UsageRequest): readonly (readonly [string, string])[] {
  const source = PRICE_SOURCES[request.price_source];
  return [
    ['Outcome', request.outcome.replaceAll('_', ' ')],
    ['Cost', `${formatUsd(request.cost_usd)}${source && ` (${source})`}`],
    ...(request.upstream_model === null ? [] : [['Model sent', request.upstream_model] as const]),
    ['First token', formatMs(request.ttft_ms)],
    ['Input tokens', formatNumber(request.input_tokens)],
    ['from cache', formatNumber(request.cached_input_tokens)],
    ['written to cache', formatNumber(request.cache_write_tokens)],
    ['Output tokens', formatNumber(request.output_tokens)],
    ['for reasoning', formatNumber(request.reasoning_tokens)],
  ];
}

/** Attempts follow each other, so that each starts when those before it have ended. */
function startOf({ attempts }: UsageRequest, index: number): number {
  return attempts.slice(0, index).reduce((sum, { ms }) => sum + ms, 0);
}

function percent(part: number, whole: number): number {
  return whole <= 0 ? 0 : Math.min(PERCENT, (part / whole) * PERCENT);
}
