import type { PinnedChild } from '../support/child.js';

/** The mock upstreams: 1 KiB or 100 KiB at once, or an event stream. */
export const MOCKS = ['plain', 'large', 'streams'] as const;
export type Mock = (typeof MOCKS)[number];

/** Where requests for a mock upstream go, and what they carry. */
export interface Route {
  readonly port: number;
  readonly headers: Readonly<Record<string, string>>;
}

export type Routes = Readonly<Record<Mock, Route>>;

/** Something between the load and the mock upstreams. */
export interface Gateway {
  readonly child: PinnedChild;
  readonly routes: Routes;
}

export const GATEWAYS = ['nginx', 'portkey', 'mintkeep'] as const;
export type GatewayName = (typeof GATEWAYS)[number];

/** Asks every mock in turn for its part of the routes. */
export async function routesBy(make: (mock: Mock) => Route | Promise<Route>): Promise<Routes> {
  const [plain, large, streams] = [await make('plain'), await make('large'), await make('streams')];
  return { plain, large, streams };
}
