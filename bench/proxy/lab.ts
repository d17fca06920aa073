import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.js';
import { requireProgram } from '../support/machine.js';
import { createWorkspace } from '../support/workspace.js';
import type { Workspace } from '../support/workspace.js';
import { createRoutes } from './gateway.js';
import type { Gateway, GatewayName, Routes } from './gateway.js';
import { startMintkeep } from './mintkeep.js';
import { startMocks } from './mocks.js';
import type { Mocks } from './mocks.js';
import { nginxVersion, proxyServer, startNginx } from './nginx.js';
import { startPortkey } from './portkey.js';

export const GATEWAY_CORE = 0;
export const LOAD_CORE = 1;

/** The default buffers of nginx would write large responses to temporary files, at more than twice the cost. */
const LARGE_BUFFERS = 'proxy_buffers 16 16k; proxy_busy_buffers_size 64k;';

/** All programs of a run: one process for each gateway, all in front of the same mock upstreams. */
export interface Lab {
  readonly workspace: Workspace;
  readonly mocks: Mocks;
  /** Routes to the mock upstreams without a gateway. */
  readonly direct: Routes;
  readonly gateways: Readonly<Record<GatewayName, Gateway>>;
  dispose(): Promise<void>;
}

export async function openLab(): Promise<Lab> {
  requireProgram('nginx', 'nginx-light');
  requireProgram('wrk', 'wrk');
  const workspace = await createWorkspace();
  const children: { stop(): Promise<void> }[] = [];
  const dispose = async () => {
    await Promise.all(children.map((child) => child.stop()));
    await workspace.dispose();
  };
  const keep = (gateway: Gateway) => {
    children.push(gateway.child);
    return gateway;
  };
  try {
    const mocks = await startMocks(workspace.dataDir, LOAD_CORE);
    children.push(...mocks.children);
    const gateways = {
      nginx: keep(await startNginxGateway(workspace, mocks)),
      portkey: keep(await startPortkey(mocks, GATEWAY_CORE)),
      mintkeep: keep(await startMintkeep(workspace, mocks, { core: GATEWAY_CORE })),
    };
    return { workspace, mocks, direct: await directRoutes(mocks), gateways, dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

function directRoutes({ ports }: Mocks): Promise<Routes> {
  return createRoutes((mock) => ({ port: ports[mock], headers: {} }));
}

async function startNginxGateway({ dataDir }: Workspace, { ports }: Mocks): Promise<Gateway> {
  const routes = await createRoutes(async () => ({ port: await freePort(), headers: {} }));
  const child = await startNginx({
    folder: join(dataDir, 'nginx-gateway'),
    core: GATEWAY_CORE,
    port: routes.plain.port,
    http: [
      proxyServer(routes.plain.port, ports.plain),
      proxyServer(routes.large.port, ports.large, LARGE_BUFFERS),
      proxyServer(routes.streams.port, ports.streams, 'proxy_buffering off;'),
    ].join('\n'),
  });
  return { child, routes, version: nginxVersion() };
}
