import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.js';
import { createWorkspace } from '../support/workspace.js';
import type { Workspace } from '../support/workspace.js';
import { routesBy } from './gateway.js';
import type { Gateway, GatewayName, Routes } from './gateway.js';
import { startMintkeep } from './mintkeep.js';
import { startMocks } from './mocks.js';
import type { Mocks } from './mocks.js';
import { passOn, startNginx } from './nginx.js';
import { startPortkey } from './portkey.js';

export const GATEWAY_CORE = 0;
export const LOAD_CORE = 1;

/** With its default buffers nginx would write such answers to temporary files, at more than twice the cost. */
const HOLD_LARGE = 'proxy_buffers 16 16k; proxy_busy_buffers_size 64k;';

/** Everything that runs while it is measured: one process for each gateway, all before the same mock upstreams. */
export interface Lab {
  readonly workspace: Workspace;
  readonly mocks: Mocks;
  /** To the mock upstreams without a gateway. */
  readonly direct: Routes;
  readonly gateways: Readonly<Record<GatewayName, Gateway>>;
  dispose(): Promise<void>;
}

export async function openLab(): Promise<Lab> {
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
      nginx: keep(await startGateway(workspace, mocks)),
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
  return routesBy((mock) => ({ port: ports[mock], headers: {} }));
}

async function startGateway({ dataDir }: Workspace, { ports }: Mocks): Promise<Gateway> {
  const routes = await routesBy(async () => ({ port: await freePort(), headers: {} }));
  const child = await startNginx({
    folder: join(dataDir, 'nginx-gateway'),
    core: GATEWAY_CORE,
    port: routes.plain.port,
    http: [
      passOn(routes.plain.port, ports.plain),
      passOn(routes.large.port, ports.large, HOLD_LARGE),
      passOn(routes.streams.port, ports.streams, 'proxy_buffering off;'),
    ].join('\n'),
  });
  return { child, routes };
}
