import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { canDownload, downloadGenerator, LANGUAGES, runClient } from '../support/generated-clients.js';
import { clientLanguages, describeWith } from '../support/requirements.js';
import { startService, temporaryFolder } from '../support/service.js';
import type { Service } from '../support/service.js';
import { sessionFor } from '../support/sessions.js';

const run = promisify(execFile);
const TIMEOUT_MS = 600_000;
const CALLS = [
  ...['createProject', 'listProjects', 'createDocument', 'getDocument', 'listDocuments'],
  ...['mintKey', 'listKeys', 'revokeKey', 'summarizeUsage', 'getLimits'],
];

let database: TestDatabase;
let service: Service;
let document: string;
beforeAll(async () => {
  database = await createDatabase();
  const variables = { PUBLIC_URL: 'https://mintkeep.acme.test' };
  service = await startService(database.url, await temporaryFolder(), variables);
  document = await (await fetch(`${service.url}/openapi.json`)).text();
});
afterAll(async () => {
  await service.end('SIGTERM');
  await database.drop();
});

/** A folder with the OpenAPI document. */
async function folderWithDocument(): Promise<string> {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'openapi.json'), document);
  return folder;
}

describe('the OpenAPI document', () => {
  it.each([
    ['Spectral', '@stoplight/spectral-cli@6.16.3', ['spectral', 'lint', '--fail-severity=hint']],
    ['Redocly', '@redocly/cli@2.77.0', ['redocly', 'lint', '--max-problems=20', '--format=summary']],
  ])(
    'has nothing that %s reports',
    async (_name, packageName, command) => {
      const folder = await folderWithDocument();
      await writeFile(join(folder, '.spectral.yaml'), 'extends: ["spectral:oas"]\n');
      const args = ['exec', '--yes', `--package=${packageName}`, '--', ...command, 'openapi.json'];
      const env = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name));
      const { stdout, stderr } = await run('npm', args, { cwd: folder, env: Object.fromEntries(env) });
      expect(`${stdout}${stderr}`).not.toMatch(/\b\d+ (?:warning|problem)/);
    },
    TIMEOUT_MS,
  );
});

describeWith(clientLanguages(await canDownload()), 'a client that openapi-generator generates', () => {
  it.each(Object.entries(LANGUAGES))(
    'compiles for %s and makes ten calls',
    async (name, language) => {
      const jar = await downloadGenerator();
      const variables = { MINTKEEP_URL: service.url, SESSION: await sessionFor(`user-of-${name}`) };
      const output = await runClient(language, jar, await folderWithDocument(), {
        ...variables,
        HOME: process.env.HOME,
      });
      expect(output.trim().split('\n')).toEqual(CALLS);
    },
    TIMEOUT_MS,
  );
});
