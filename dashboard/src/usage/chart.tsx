import '@mantine/charts/styles.css';
import { BarChart, LineChart } from '@mantine/charts';
import type { ReactNode } from 'react';
import { formatMs, formatNumber } from './format';
import type { Series } from './series';
import type { Metric } from './view';

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
    yAxisProps: { allowDecimals: false },
    series: names.map((name, index) => ({ name, color: COLORS[index % COLORS.length]! })),
    valueFormatter: (value: number) => (metric === 'latency' ? formatMs(value) : formatNumber(value)),
    withLegend: names.length > 1,
    role: 'img',
    'aria-label': `${metric} over time`,
  };
  if (metric === 'latency') return <LineChart {...shared} curveType="monotone" connectNulls={false} />;
  return <BarChart {...shared} type="stacked" />;
}
