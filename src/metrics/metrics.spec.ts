import { Metrics } from './metrics.js';

const openai = { id: 7, name: 'Our "OpenAI"', provider: 'openai' };

/** The lines that begin with the name. */
async function lines(metrics: Metrics, name: string): Promise<string[]> {
  return (await metrics.text()).split('\n').filter((line) => line.startsWith(name));
}

it('counts requests to the proxy by upstream and outcome', async () => {
  const metrics = new Metrics();
  for (const outcome of ['ok', 'ok', 'upstream_error']) metrics.proxy.finished(openai, outcome);
  metrics.proxy.finished(null, 'no_upstream');
  for (let asked = 0; asked < 2; asked++) {
    const name = String.raw`Our \"OpenAI\"`;
    expect(await lines(metrics, 'mintkeep_proxy_requests_total')).toEqual([
      `mintkeep_proxy_requests_total{upstream_id="7",upstream="${name}",provider="openai",outcome="ok"} 2`,
      `mintkeep_proxy_requests_total{upstream_id="7",upstream="${name}",provider="openai",outcome="upstream_error"} 1`,
      'mintkeep_proxy_requests_total{upstream_id="none",upstream="none",provider="none",outcome="no_upstream"} 1',
    ]);
  }
});

it('has a bounded number of figures, however many upstreams there are, and loses no request', async () => {
  const metrics = new Metrics();
  for (let id = 1; id <= 3_000; id++) metrics.proxy.finished({ ...openai, id }, 'ok');
  metrics.proxy.finished(null, 'no_upstream');
  const counted = await lines(metrics, 'mintkeep_proxy_requests_total');
  expect(counted.length).toBeLessThan(1_010);
  expect(counted.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)).toBe(3_001);
  expect(counted.find((line) => line.includes('upstream_id="other"'))).toMatch(/ 2000$/);
});

it('counts rejected requests to the proxy by the code of the error', async () => {
  const metrics = new Metrics();
  for (const code of ['missing_proxy_key', 'missing_proxy_key', 'invalid_proxy_key'])
    metrics.proxy.keyRejected(code);
  expect(await lines(metrics, 'mintkeep_proxy_key_rejections_total')).toEqual([
    'mintkeep_proxy_key_rejections_total{error="missing_proxy_key"} 2',
    'mintkeep_proxy_key_rejections_total{error="invalid_proxy_key"} 1',
  ]);
});

it('tells attempts, first bytes and open streams', async () => {
  const metrics = new Metrics();
  metrics.proxy.attempted('openai', 'connect');
  metrics.proxy.attempted('openai', 'ok');
  metrics.proxy.attempted('openai', 'ok');
  metrics.proxy.firstByte('openai', 0.2);
  metrics.proxy.streamOpened();
  metrics.proxy.streamOpened();
  metrics.proxy.streamClosed();
  const text = await metrics.text();
  expect(text).toContain('mintkeep_proxy_attempts_total{provider="openai",result="connect"} 1');
  expect(text).toContain('mintkeep_proxy_attempts_total{provider="openai",result="ok"} 2');
  expect(text).toContain('mintkeep_proxy_time_to_first_byte_seconds_bucket{le="0.25",provider="openai"} 1');
  expect(text).toContain('mintkeep_proxy_open_streams 1');
});

it('tells durations as Prometheus has histograms: by bound, with all that are shorter', async () => {
  const metrics = new Metrics();
  for (const seconds of [0.05, 0.2, 0.2, 700]) metrics.proxy.firstByte('openai', seconds);
  metrics.proxy.firstByte('mistral', 1);
  const name = 'mintkeep_proxy_time_to_first_byte_seconds';
  const told = (await metrics.text()).split('\n').filter((line) => line.includes(name));
  expect(told.slice(0, 2)).toEqual([expect.stringMatching(/^# HELP/), `# TYPE ${name} histogram`]);
  const ofOpenai = told.filter((line) => line.includes('"openai"')).map((line) => line.slice(name.length));
  expect(ofOpenai).toEqual([
    '_bucket{le="0.05",provider="openai"} 1',
    '_bucket{le="0.1",provider="openai"} 1',
    ...[0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600].map(
      (le) => `_bucket{le="${le}",provider="openai"} 3`,
    ),
    '_bucket{le="+Inf",provider="openai"} 4',
    expect.stringMatching(/^_sum\{provider="openai"\} 700\.45/),
    '_count{provider="openai"} 4',
  ]);
  expect(told).toContain(`${name}_count{provider="mistral"} 1`);
});

it('reads a gauge on request, and leaves out one that cannot be read', async () => {
  const metrics = new Metrics();
  let read: () => number | Promise<number> = () => 3;
  metrics.gauge('mintkeep_usage_queue_records', 'Records that wait', () => read());
  expect(await lines(metrics, 'mintkeep_usage_queue_records')).toEqual(['mintkeep_usage_queue_records 3']);
  read = () => Promise.resolve(4);
  expect(await lines(metrics, 'mintkeep_usage_queue_records')).toEqual(['mintkeep_usage_queue_records 4']);
  read = () => Promise.reject(new Error('no database'));
  expect(await lines(metrics, 'mintkeep_usage_queue_records')).toEqual([]);
  read = () => 5;
  expect(await lines(metrics, 'mintkeep_usage_queue_records')).toEqual(['mintkeep_usage_queue_records 5']);
});

it('tells of the process, and of jobs', async () => {
  const metrics = new Metrics();
  metrics.jobs.finished('sweep', 'failed', 0.02);
  expect(await lines(metrics, 'mintkeep_job_last_success')).toEqual([]);
  metrics.jobs.finished('sweep', 'ok', 0.02);
  const text = await metrics.text();
  expect(text).toContain('mintkeep_job_runs_total{job="sweep",outcome="failed"} 1');
  expect(text).toMatch(/mintkeep_job_last_success_timestamp_seconds\{job="sweep"\} \d{10}/);
  expect(text).toContain('process_cpu_seconds_total');
});
