import '@mantine/charts/styles.css';
import { BarChart, LineChart } from '@mantine/charts';
import type { ReactNode } from 'react';
import { formatMs, formatNumber, formatUsd } from './format';
import type { Series } from './series';
import type { Metric } from './view';

/** Widest label of the axis, which is an amount of money. */
const AXIS_WIDTH = 72;
const FORMATS: Record<Metric, (value: number) => string> = {
  requests: formatNumber,
  tokens: formatNumber,
  errors: formatNumber,
  cost: formatUsd,
  latency: formatMs,
};
const COLORS = ['mint.6', 'blue.6', 'orange.6', 'grape.6', 'cyan.6', 'pink.6', 'gray.6'];

interface Props {
  readonly series: Series;
  readonly metric: Metric;
  readonly height: number;
}

/** Bars that add up, or lines for latencies, which do not. */
export default function Chart({ series: { names, rows }, metric, height }: Props): ReactNode {
  const shared = {
    h: height,
    data: rows.map((row) => ({ ...row })),
    dataKey: 'at',
    yAxisProps: { allowDecimals: metric === 'cost', width: AXIS_WIDTH },
    series: names.map((name, index) => ({ name, color: COLORS[index % COLORS.length]! })),
    valueFormatter: FORMATS[metric],
    withLegend: names.length > 1,
    role: 'img',
    'aria-label': `${metric} over time`,
  };
  if (metric === 'latency') return <LineChart {...shared} curveType="monotone" connectNulls={false} />;
  return <BarChart {...shared} type="stacked" />;
}
