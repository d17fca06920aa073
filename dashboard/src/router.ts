import { createRouter } from '@tanstack/react-router';
import { LoadingPage } from './loading-page';
import { routeTree } from './routes';

/** Wait for a page's code after which it shows that it is loading. */
const PENDING_MS = 300;

/** Search parameters are plain texts. The router's default would turn a token of digits into a number. */
function parseSearch(search: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(search));
}

function stringifySearch(search: Record<string, unknown>): string {
  const present = Object.entries(search).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(present.map(([name, value]) => [name, String(value)])).toString();
  return text === '' ? '' : `?${text}`;
}

/** Router of the dashboard. Pages are loaded on demand, or on the intent to open them. */
export const router = createRouter({
  routeTree,
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  defaultPendingComponent: LoadingPage,
  defaultPendingMs: PENDING_MS,
  defaultPendingMinMs: 0, // a page that is ready is shown at once
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
