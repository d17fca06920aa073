import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.js';
import { PinnedChild } from '../support/child.js';
import { installOnce } from '../support/install.js';
import { createRoutes } from './gateway.js';
import type { Gateway } from './gateway.js';
import type { Mocks } from './mocks.js';

const FOLDER = join(import.meta.dirname, '../portkey');
const PACKAGE = 'node_modules/@portkey-ai/gateway';
const PROGRAM = join(PACKAGE, 'build/start-server.js');

/** Starts Portkey's gateway. The headers of every request tell it the upstream. */
export async function startPortkey({ ports }: Mocks, core: number): Promise<Gateway> {
  installOnce(FOLDER, PROGRAM);
  const port = await freePort();
  const child = await PinnedChild.startNode({
    args: [join(FOLDER, PROGRAM), `--port=${port}`, '--headless'],
    env: { NODE_ENV: 'production' },
    core,
    port,
    silent: true, // it logs every client that disconnects
  });
  const routes = await createRoutes((mock) => ({
    port,
    headers: {
      Authorization: 'Bearer sk-the-key-of-the-upstream',
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `http://127.0.0.1:${ports[mock]}/v1`,
    },
  }));
  return { child, routes, version: installedVersion() };
}

function installedVersion(): string {
  const manifest = JSON.parse(readFileSync(join(FOLDER, PACKAGE, 'package.json'), 'utf8')) as {
    version: string;
  };
  return manifest.version;
}
