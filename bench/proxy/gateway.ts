import type { PinnedChild } from '../support/child.js';

/** The mock upstreams: a response of 1 KiB, a response of 100 KiB, or an event stream. */
export type Mock = 'plain' | 'large' | 'streams';

/** The address for requests to one mock upstream, and the headers that they need. */
export interface Route {
  readonly port: number;
  readonly headers: Readonly<Record<string, string>>;
}

export type Routes = Readonly<Record<Mock, Route>>;

/** A program between the load generator and the mock upstreams. */
export interface Gateway {
  readonly child: PinnedChild;
  readonly routes: Routes;
  /** Version of a program that is not part of this repository. */
  readonly version?: string;
}

export const GATEWAYS = ['nginx', 'portkey', 'mintkeep'] as const;
export type GatewayName = (typeof GATEWAYS)[number];

/** Creates the routes one after the other. */
export async function createRoutes(create: (mock: Mock) => Route | Promise<Route>): Promise<Routes> {
  const [plain, large, streams] = [await create('plain'), await create('large'), await create('streams')];
  return { plain, large, streams };
}
