import type { UsageRecord } from '../../../src/usage/record/usage-record.js';
import type { Agent } from '../../support/app.js';
import { recordAll, usageRecord } from '../../support/usage.js';
import type { Dashboard, Person } from './dashboard.js';
import { createTestProject } from './objects.js';

/** Team with content for screenshots. */
export interface ExampleTeam {
  readonly id: number;
  /** Paths of pages, by name. */
  readonly pages: Readonly<Record<string, string>>;
}

const DOCUMENTS = [
  {
    slug: 'release-checklist',
    title: 'Release checklist',
    content:
      '# Release checklist\n\nEvery release follows these steps. The [[style-guide|style guide]] says how to write the notes.\n\n' +
      '## Before\n\n- [x] All tests pass, also on Node 24\n- [x] [[support-answers]] name the new version\n- [ ] The changelog is complete\n\n' +
      '## Publish\n\n```sh\ngit tag v1.4.0 && git push --tags\n```\n\n' +
      '## After\n\n| What | Who | When |\n| --- | --- | --- |\n| Watch the error rate | on call | one hour |\n| Answer the first questions | support | one day |\n\n' +
      '> Roll back first, then look for the cause: see [[incident-guide]].\n',
  },
  {
    slug: 'style-guide',
    title: 'Style guide',
    content: '# Style guide\n\nShort sentences. See [[release-checklist]].\n',
  },
  {
    slug: 'support-answers',
    title: 'Support answers',
    content: '# Support answers\n\nTone: friendly, exact. Before a release: [[release-checklist]].\n',
  },
  { slug: 'incident-guide', title: 'Incident guide', content: '# Incident guide\n\nRoll back first.\n' },
  { slug: 'glossary', title: 'Glossary', content: '# Glossary\n' },
  { slug: 'onboarding', title: 'Onboarding', content: '# Onboarding\n\nStart with the [[style-guide]].\n' },
];

/** Models with their share of the requests, tokens and costs. */
const MODELS = [
  {
    model: 'gpt-4o',
    upstream: 0,
    share: 9,
    input: 2_100,
    output: 340,
    cost: 0.0086,
    latency: 2_300,
    ttft: 410,
  },
  {
    model: 'claude-sonnet-4-5',
    upstream: 1,
    share: 6,
    input: 4_800,
    output: 620,
    cost: 0.0237,
    latency: 4_100,
    ttft: 700,
  },
  {
    model: 'qwen3-32b',
    upstream: 2,
    share: 4,
    input: 1_200,
    output: 280,
    cost: 0,
    latency: 1_600,
    ttft: 240,
  },
];

const HOUR_MS = 3_600_000;
const HOURS = 7 * 24;

/** Creates a team with projects, documents, people, upstreams, keys and a week of usage. */
export async function createExampleTeam(dashboard: Dashboard, admin: Person): Promise<ExampleTeam> {
  const { agent } = admin;
  const { body: team } = await agent
    .post('/me/organizations')
    .send({ name: 'Acme', slug: 'acme' })
    .expect(201);
  const base = `/me/organizations/${team.id}`;
  for (const name of ['Launch', 'Research']) await createTestProject(agent, name, team.id);
  const project = await createTestProject(agent, 'Handbook', team.id);
  const ids: number[] = [];
  for (const { slug, title, content } of DOCUMENTS) ids.push(await project.write(slug, title, content));
  await invite(dashboard, agent, base);
  const upstreams = await addUpstreams(agent, base);
  const { body: key } = await agent.post(`${base}/keys`).send({ name: 'Support bot' }).expect(201);
  await agent.post(`${base}/keys`).send({ name: 'CI' }).expect(201);
  await recordAll(dashboard.app, weekOfUsage(team.id, key.id, upstreams));
  const areas = [
    'members',
    'members/invitations',
    'members/audit',
    'keys',
    'upstreams',
    'usage',
    'playground',
  ];
  const pages = [...areas, 'settings', 'settings/limits', 'settings/prices'];
  return {
    id: team.id,
    pages: {
      projects: `/o/${team.id}/projects`,
      documents: project.path,
      document: project.pathOf(ids[0]!),
      ...Object.fromEntries(pages.map((page) => [page.replace('/', '-'), `/o/${team.id}/${page}`])),
      requests: `/o/${team.id}/usage?tab=requests`,
      received: '/invitations',
    },
  };
}

async function invite(dashboard: Dashboard, agent: Agent, base: string): Promise<void> {
  const { body } = await agent
    .post(`${base}/invite`)
    .send({ email: 'grace@example.com', role: 'member' })
    .expect(201);
  const grace = await dashboard.signedIn('grace');
  await grace.agent.post('/me/invitations/accept').send({ token: body.token }).expect(200);
  await grace.context.close();
  await agent.post(`${base}/invite`).send({ email: 'alan@example.com', role: 'admin' }).expect(201);
}

async function addUpstreams(agent: Agent, base: string): Promise<{ id: number; name: string }[]> {
  const upstreams = [
    { name: 'OpenAI', base_url: 'https://api.openai.com/v1', models: [{ model: 'gpt-*' }] },
    {
      name: 'Anthropic',
      base_url: 'https://api.anthropic.com',
      provider: 'anthropic',
      models: [{ model: 'claude-*' }],
    },
    { name: 'vLLM in the office', base_url: 'http://10.0.0.12:8000/v1' },
  ];
  const added: { id: number; name: string }[] = [];
  for (const [index, upstream] of upstreams.entries()) {
    const fields = { ...upstream, api_key: 'sk-example-0000', priority: index + 1 };
    const { body } = await agent.post(`${base}/upstreams`).send(fields).expect(201);
    added.push({ id: body.id, name: upstream.name });
  }
  return added;
}

/** More requests by day than by night, and an error now and then. */
function weekOfUsage(
  organization: number,
  key: number,
  upstreams: readonly { id: number; name: string }[],
): UsageRecord[] {
  const records: UsageRecord[] = [];
  const now = Date.now();
  for (let hour = 0; hour < HOURS; hour++) {
    const start = now - (HOURS - hour) * HOUR_MS;
    const daylight = Math.max(0.1, Math.sin((new Date(start).getUTCHours() / 24) * Math.PI));
    for (const model of MODELS) {
      const count = Math.round(model.share * daylight * (0.7 + ((hour * 7) % 5) / 8));
      for (let i = 0; i < count; i++) {
        const at = new Date(start + ((i + 0.5) / count) * HOUR_MS);
        const isError = (hour + i) % 41 === 0;
        records.push(
          createRecord({ organization, key, upstream: upstreams[model.upstream]!, model, at, isError }),
        );
      }
    }
  }
  return records;
}

interface RecordFields {
  readonly organization: number;
  readonly key: number;
  readonly upstream: { readonly id: number; readonly name: string };
  readonly model: (typeof MODELS)[number];
  readonly at: Date;
  readonly isError: boolean;
}

function createRecord({ organization, key, upstream, model, at, isError }: RecordFields): UsageRecord {
  const variation = 0.6 + (at.getTime() % 89) / 100;
  const status = isError ? 502 : 200;
  const ms = Math.round(model.latency * variation);
  const input = Math.round(model.input * variation);
  const output = Math.round(model.output * variation);
  const isAnthropic = model.model.startsWith('claude');
  const counted: Partial<UsageRecord> = isError
    ? { outcome: 'upstream_error', usage_source: 'none', cost_usd: 0, ttft_ms: null }
    : { cost_usd: model.cost * variation, ttft_ms: Math.round(model.ttft * variation) };
  const tokens = isError
    ? { input_tokens: null, output_tokens: null, total_tokens: null }
    : {
        input_tokens: input,
        output_tokens: output,
        total_tokens: input + output,
      };
  return usageRecord({
    ...{ organization_id: organization, key_id: key, model: model.model, at: at.toISOString(), stream: true },
    ...{ upstream_id: upstream.id, upstream_name: upstream.name, status, latency_ms: ms },
    provider: isAnthropic ? 'anthropic' : 'openai',
    path: isAnthropic ? '/v1/messages' : '/v1/chat/completions',
    attempts: [{ upstream_id: upstream.id, upstream_name: upstream.name, status, error: null, ms }],
    ...counted,
    ...tokens,
  });
}
