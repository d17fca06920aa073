import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.js';
import { PinnedChild } from '../support/child.js';
import { routesBy } from './gateway.js';
import type { Gateway } from './gateway.js';
import type { Mocks } from './mocks.js';

const FOLDER = join(import.meta.dirname, '../portkey');
const PROGRAM = join(FOLDER, 'node_modules/@portkey-ai/gateway/build/start-server.js');

/** Installed on first use, beside our own dependencies. It is told the upstream with every request. */
export async function startPortkey({ ports }: Mocks, core: number): Promise<Gateway> {
  if (!existsSync(PROGRAM)) install();
  const port = await freePort();
  const child = await PinnedChild.startNode({
    args: [PROGRAM, `--port=${port}`, '--headless'],
    env: { NODE_ENV: 'production' },
    ...{ core, port },
    silent: true, // it tells of every client that leaves
  });
  const routes = await routesBy((mock) => ({
    port,
    headers: {
      Authorization: 'Bearer sk-the-key-of-the-upstream',
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `http://127.0.0.1:${ports[mock]}/v1`,
    },
  }));
  return { child, routes };
}

function install(): void {
  console.log('installing Portkey into bench/portkey');
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts'], { cwd: FOLDER, stdio: 'inherit' });
  if (status !== 0) throw new Error('Portkey could not be installed');
}
