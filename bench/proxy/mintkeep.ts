import { PinnedChild } from '../support/child.js';
import { create, newSession, serviceSettings } from '../support/session.js';
import type { Workspace } from '../support/workspace.js';
import { routesBy } from './gateway.js';
import type { Gateway, Route } from './gateway.js';
import type { Mocks } from './mocks.js';

export interface ServiceOptions {
  readonly core: number;
  readonly port?: number;
  /** Beside those of the benchmark. */
  readonly settings?: NodeJS.ProcessEnv;
}

export function startService(workspace: Workspace, options: ServiceOptions): Promise<PinnedChild> {
  const { core, port, settings } = options;
  const unlimited = { UPSTREAM_PRIVATE_NETWORKS: 'allow', PROXY_STREAMS_PER_KEY: '0' };
  const env = { ...serviceSettings(workspace), ...unlimited, ...settings };
  return PinnedChild.startNode({ args: ['dist/main.js'], env, core, port });
}

/** The service as it is built, with a user and a key for each mock upstream. */
export async function startMintkeep(
  workspace: Workspace,
  { ports }: Mocks,
  options: ServiceOptions,
): Promise<Gateway> {
  const child = await startService(workspace, options);
  const routes = await routesBy((mock) => routeTo(child.port, ports[mock], `${mock}-${child.port}`));
  return { child, routes };
}

/** Through the pool of a user that has one upstream, by a key of that user. */
export async function routeTo(port: number, upstreamPort: number, user: string): Promise<Route> {
  const session = await newSession(user);
  await create(port, session, 'upstreams', {
    name: 'mock',
    base_url: `http://127.0.0.1:${upstreamPort}/v1`,
    api_key: 'sk-the-key-of-the-upstream',
  });
  const key = (await (await create(port, session, 'keys', {})).json()) as { api_key: string };
  return { port, headers: { Authorization: `Bearer ${key.api_key}` } };
}
