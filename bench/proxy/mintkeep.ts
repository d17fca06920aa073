import { PinnedChild } from '../support/child.js';
import { create, newSession, serviceSettings } from '../support/session.js';
import type { Workspace } from '../support/workspace.js';
import { createRoutes } from './gateway.js';
import type { Gateway, Route } from './gateway.js';
import type { Mocks } from './mocks.js';

interface ServiceOptions {
  readonly core: number;
  readonly port?: number;
}

/** Settings without the limits that the load would exceed. */
export const UNLIMITED = {
  UPSTREAM_PRIVATE_NETWORKS: 'allow',
  PROXY_STREAMS_PER_KEY: '0',
  PROXY_REQUESTS_IN_FLIGHT: '0',
};

/** Starts the built service without the limits that the load would exceed. */
export function startService(workspace: Workspace, { core, port }: ServiceOptions): Promise<PinnedChild> {
  const env = { ...serviceSettings(workspace), ...UNLIMITED };
  return PinnedChild.startNode({ args: ['dist/main.js'], env, core, port });
}

/** Starts the service with one user and one key for each mock upstream. */
export async function startMintkeep(
  workspace: Workspace,
  { ports }: Mocks,
  options: ServiceOptions,
): Promise<Gateway> {
  const child = await startService(workspace, options);
  const routes = await createRoutes((mock) => createRoute(child.port, ports[mock], `${mock}-${child.port}`));
  return { child, routes };
}

/** Creates a pool of one upstream and a key for a new user. */
export async function createRoute(port: number, upstreamPort: number, user: string): Promise<Route> {
  const session = await newSession(user);
  await create(port, session, 'upstreams', {
    name: 'mock',
    base_url: `http://127.0.0.1:${upstreamPort}/v1`,
    api_key: 'sk-the-key-of-the-upstream',
  });
  const key = (await (await create(port, session, 'keys', {})).json()) as { api_key: string };
  return { port, headers: { Authorization: `Bearer ${key.api_key}` } };
}
