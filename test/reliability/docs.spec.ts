import { existsSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { createDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { startUpstream } from '../support/fake-upstream.js';
import type { FakeUpstream } from '../support/fake-upstream.js';
import { anchorsOf, blocksOf, linksOf, pages } from '../support/markdown.js';
import type { Block } from '../support/markdown.js';
import { serving, startProgram, temporaryFolder } from '../support/service.js';
import type { Service } from '../support/service.js';
import { runBlocks } from '../support/shell.js';
import { CURL, describeWith } from '../support/requirements.js';

const RUN = [
  'README.md',
  'docs/tutorial.md',
  'docs/usage.md',
  'docs/limits.md',
  'docs/backup-and-restore.md',
];
const README_BYTES = 8_192;

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

const commandsOf = (path: string): Block[] =>
  blocksOf(path).filter(({ language, isSkipped }) => language === 'sh' && !isSkipped);

describe('links', () => {
  it.each(pages())('lead from %s to files and headings', (page) => {
    const broken = linksOf(page).filter((link) => {
      if (/^(https?:|mailto:)/.test(link)) return false;
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? page : normalize(join(dirname(page), path));
      if (!existsSync(target)) return true;
      return anchor !== undefined && !anchorsOf(target).has(anchor);
    });
    expect(broken).toEqual([]);
  });

  it('lead from the README to every page of docs', () => {
    const linked = linksOf('README.md');
    const isLinked = (page: string) => linked.includes(page) || linked.includes(dirname(page));
    expect(pages().filter((page) => page !== 'README.md' && !isLinked(page))).toEqual([]);
  });
});

it('the README is short', () => {
  expect(readFileSync('README.md').length).toBeLessThanOrEqual(README_BYTES);
});

it('every shell block is run by a test or says that it is not', () => {
  const unmarked = pages().filter((page) => !RUN.includes(page) && commandsOf(page).length > 0);
  expect(unmarked).toEqual([]);
});

it('the changelog begins with the version of the package', () => {
  const [, newest] = /^## \[([^\]]+)\]/m.exec(readFileSync('CHANGELOG.md', 'utf8'))!;
  expect(newest).toBe(version);
});

/** Command that stores a session in `TOKEN`. */
const SIGN_IN = `TOKEN=$(curl -s localhost:3000/dev/sign-in -d '{"email": "ada@example.com"}' | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')`;

const STREAM = [
  'data: {"choices":[{"delta":{"content":"Hello!"}}]}\n\n',
  'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}\n\n',
  'data: [DONE]\n\n',
].join('');

describeWith(CURL, 'commands', () => {
  let database: TestDatabase;
  let upstream: FakeUpstream;
  let service: Service;

  beforeEach(async () => {
    database = await createDatabase();
    upstream = await startUpstream((_, response) => {
      response.setHeader('Content-Type', 'text/event-stream').end(STREAM);
    });
    const program = startProgram({
      HOST: '127.0.0.1',
      DATABASE_URL: database.url,
      DATA_DIR: await temporaryFolder(),
      ENCRYPTION_KEYS: Buffer.alloc(32, 1).toString('base64'),
      UPSTREAM_PRIVATE_NETWORKS: 'allow',
    });
    service = await serving(program);
  });
  afterEach(async () => {
    await service.end('SIGTERM');
    await upstream.close();
    await database.drop();
  });

  /** Runs the blocks of a page and compares their output with the responses that the page shows. */
  async function runPage(path: string, before: readonly string[] = []): Promise<string[]> {
    const blocks = commandsOf(path);
    const commands = [...before, ...blocks.map(({ text }) => text)];
    const here = commands.map((text) => text.replaceAll('localhost:3000', new URL(service.url).host));
    const variables = { OPENAI_BASE_URL: `${upstream.url}/v1`, OPENAI_API_KEY: 'sk-12345678' };
    const outputs = (await runBlocks(here, variables)).slice(before.length);
    for (const [i, { next }] of blocks.entries()) {
      const expected = next?.language === 'json' ? JSON.parse(next.text) : undefined;
      if (expected === undefined) expect(outputs[i]).not.toMatch(/"error":\{/);
      else expect(withoutTimes(JSON.parse(outputs[i]!))).toEqual(withoutTimes(expected));
    }
    return outputs;
  }

  it('mint a key and stream a response in the README', async () => {
    const [output] = await runPage('README.md');
    expect(output).toContain('"Hello!"');
    expect(upstream.requests.map(({ url }) => url)).toEqual(['/v1/chat/completions']);
  });

  it('have the outputs that the tutorial shows', async () => {
    const outputs = await runPage('docs/tutorial.md');
    expect(outputs.some((output) => output.startsWith('{"api_key":"mk_'))).toBe(true);
    expect(outputs.some((output) => output.includes('expired_token'))).toBe(true);
    expect(outputs.at(-1)).toContain('"key.minted"');
  });

  it('show limits on the page on limits', async () => {
    const [output] = await runPage('docs/limits.md', [SIGN_IN]);
    expect(output).toContain('"spent_usd":0');
  });

  it('show usage on the page on usage', async () => {
    const [output] = await runPage('docs/usage.md', [SIGN_IN]);
    expect(output).toContain('"buckets":[');
    expect(output).toContain('"requests":[]');
  });

  it('see the version of the package in the API document and in the log', async () => {
    const { body } = await service.anonymous.get('/openapi.json').expect(200);
    expect((body as { info: { version: string } }).info.version).toBe(version);
    const log = service.stdout().split('\n');
    const started = log.find((line) => line.includes('mintkeep is running'));
    expect(JSON.parse(started!)).toMatchObject({ version });
  });
});

/** Times differ from run to run. */
function withoutTimes(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME'));
}

it('the commands for a backup with the embedded PostgreSQL restore all documents', async () => {
  const folder = await temporaryFolder();
  const [DATA_DIR, BACKUP] = [join(folder, 'data'), join(folder, 'backup')];
  const [backup, restore] = commandsOf('docs/backup-and-restore.md').map(({ text }) => text);
  const first = await serving(startProgram({ DATA_DIR }));
  const session = await signIn(first);
  await first.anonymous.post('/me/projects').set(session).send({ name: 'Handbook' }).expect(201);
  const document = { title: 'Welcome', slug: 'welcome', content: '# Hello' };
  await first.anonymous.post('/me/projects/1/documents').set(session).send(document).expect(201);
  await first.end('SIGTERM');

  await runBlocks([backup!], { DATA_DIR, BACKUP });
  await rm(DATA_DIR, { recursive: true });
  const [output] = await runBlocks([restore!], { DATA_DIR, BACKUP });
  expect(output).toBe('1 documents and 1 objects checked\n0 wrong, 0 repaired\n');

  const second = await serving(startProgram({ DATA_DIR }));
  const { body } = await eventually(async () =>
    second.anonymous.get('/me/projects/1/documents/1').set(session),
  );
  expect(body).toMatchObject(document);
  await second.end('SIGTERM');
});

async function signIn({ anonymous }: Service): Promise<{ Authorization: string }> {
  const { body } = await anonymous.post('/dev/sign-in').send({ email: 'ada@example.com' }).expect(200);
  return { Authorization: `Bearer ${(body as { token: string }).token}` };
}
