/* Starts the built service on a temporary folder, and writes the types of its API. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { generateSchema, SCHEMA_PATH } from './schema.ts';

const dataDir = await mkdtemp(join(tmpdir(), 'mintkeep-api-'));
const env = { PATH: process.env.PATH, PORT: '0', HOST: '127.0.0.1', DATA_DIR: dataDir, LOG_LEVEL: 'warn' };
const service = spawn(process.execPath, ['dist/main.js'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
const ended = once(service, 'exit');
try {
  const response = await fetch(`http://${await readAddress()}/openapi.json`);
  await writeFile(SCHEMA_PATH, await generateSchema(await response.text()));
} finally {
  service.kill('SIGTERM');
  await ended;
  await rm(dataDir, { recursive: true, force: true });
}

/** Reads the address from the line that the service writes when it listens. */
async function readAddress(): Promise<string> {
  for await (const line of createInterface(service.stdout)) {
    const address = /"listening on":"([^"]+)"/.exec(line)?.[1];
    if (address !== undefined) return address;
  }
  throw new Error('the service ended before it was ready');
}
