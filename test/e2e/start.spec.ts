import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../support/eventually.js';

const MAIN = join(import.meta.dirname, '../../dist/main.js');

let dataDir: string;
const children: ChildProcess[] = [];

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'mintkeep-start-'));
});
afterEach(async () => {
  await Promise.all(children.splice(0).map(end));
  await rm(dataDir, { recursive: true, force: true });
});

/** The built program as a user starts it. */
function start(variables: NodeJS.ProcessEnv) {
  const env = { PATH: process.env.PATH, DATA_DIR: dataDir, PORT: '0', ...variables };
  const child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()));
  return { child, output };
}

async function end(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGINT');
    await once(child, 'exit');
  }
  return child.exitCode;
}

const running = ({ output }: ReturnType<typeof start>) =>
  eventually(() => {
    const [, port] = /listening on +[\d.]+:(\d+)/.exec(output.stdout) ?? [];
    if (port === undefined) throw new Error(`not running: ${output.stdout}${output.stderr}`);
    return `http://127.0.0.1:${port}`;
  }, 25_000);

async function signIn(url: string): Promise<string> {
  const response = await fetch(`${url}/dev/sign-in`, {
    method: 'POST',
    body: '{"email": "ada@example.com"}',
  });
  return ((await response.json()) as { token: string }).token;
}

it('says what is wrong with the settings, one line each, and exits with 1', async () => {
  const { child, output } = start({ PORT: 'x', NODE_ENV: 'production', ENCRYPTION_KEYS: 'y' });
  await once(child, 'exit');
  expect(child.exitCode).toBe(1);
  expect(output.stdout).toBe('');
  expect(
    output.stderr
      .trimEnd()
      .split('\n')
      .map((line) => line.split(' ')[0])
      .sort(),
  ).toEqual(['ENCRYPTION_KEYS', 'PORT', 'SESSION_JWKS_URL']);
});

it('says so when the database cannot be reached, without a stack', async () => {
  const { child, output } = start({
    DATABASE_URL: 'postgres://127.0.0.1:1/none',
    ENCRYPTION_KEYS: Buffer.alloc(32).toString('base64'),
    LOG_LEVEL: 'silent',
  });
  await once(child, 'exit');
  expect(child.exitCode).toBe(1);
  expect(output.stderr).toMatch(/^mintkeep cannot start: .*ECONNREFUSED/);
  expect(output.stderr).not.toContain('    at ');
}, 60_000);

it('starts with nothing set, keeps what is stored, and refuses a second start on the same folder', async () => {
  const first = start({});
  const url = await running(first);
  expect(first.output.stdout).toContain(dataDir);
  expect(first.output.stdout).toContain('/dev/sign-in');
  const headers = { authorization: `Bearer ${await signIn(url)}` };
  const created = await fetch(`${url}/me/projects`, {
    method: 'POST',
    headers,
    body: '{"name": "Handbook"}',
  });
  const { id } = (await created.json()) as { id: number };
  const body = JSON.stringify({ title: 't', slug: 's', content: '# Kept' });
  await fetch(`${url}/me/projects/${id}/documents`, { method: 'POST', headers, body });

  const second = start({});
  await once(second.child, 'exit');
  expect(second.child.exitCode).toBe(1);
  expect(second.output.stderr).toContain(`another mintkeep is running on the data folder ${dataDir}`);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);

  expect(await end(first.child)).toBe(0);
  const again = await running(start({}));
  const kept = await fetch(`${again}/me/projects/${id}/documents/1`, { headers });
  expect(((await kept.json()) as { content: string }).content).toBe('# Kept');
}, 90_000);

it('starts again on a folder that a killed process has left', async () => {
  const first = start({});
  const url = await running(first);
  const headers = { authorization: `Bearer ${await signIn(url)}` };
  await fetch(`${url}/me/projects`, { method: 'POST', headers, body: '{"name": "Handbook"}' });
  first.child.kill('SIGKILL');
  await once(first.child, 'exit');
  const again = await running(start({}));
  const { projects } = (await (await fetch(`${again}/me/projects`, { headers })).json()) as {
    projects: unknown[];
  };
  expect(projects).toHaveLength(1);
}, 60_000);
