import { createRootRoute, createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { CrashPage, NotFoundPage } from './shell/error-pages';
import { sessions } from './session/store';

type Search = Record<string, unknown>;

/** Reads a search parameter that is a text. */
const text = (search: Search, name: string): string | undefined =>
  typeof search[name] === 'string' && search[name] !== '' ? search[name] : undefined;

export const rootRoute = createRootRoute({ notFoundComponent: NotFoundPage, errorComponent: CrashPage });

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: (search: Search): { return_to?: string } => ({ return_to: text(search, 'return_to') }),
  component: lazyRouteComponent(() => import('./session/sign-in-page'), 'SignInPage'),
});

/** Pages that require a session. */
export const appRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'app',
  beforeLoad: ({ location }) => {
    if (sessions.snapshot().status !== 'signed-out') return;
    const isStart = location.href === '/';
    throw redirect({ to: '/sign-in', search: isStart ? {} : { return_to: location.href }, replace: true });
  },
  component: lazyRouteComponent(() => import('./shell/shell'), 'Shell'),
});

export const startRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/',
  component: lazyRouteComponent(() => import('./shell/start-page'), 'StartPage'),
});

export const ownerRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/o/$owner',
  component: lazyRouteComponent(() => import('./organizations/owner'), 'OwnerLayout'),
});

export const projectsRoute = createRoute({
  getParentRoute: () => ownerRoute,
  path: '/projects',
  validateSearch: (search: Search): { q?: string } => ({ q: text(search, 'q') }),
  component: lazyRouteComponent(() => import('./projects/projects-page'), 'ProjectsPage'),
});

/** Project. Its pages share the layout, which knows the project. */
export const projectRoute = createRoute({
  getParentRoute: () => ownerRoute,
  path: '/projects/$project',
  component: lazyRouteComponent(() => import('./projects/project'), 'ProjectLayout'),
});

export const documentsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '/',
  validateSearch: (search: Search): { q?: string; sort?: string } => ({
    q: text(search, 'q'),
    sort: text(search, 'sort'),
  }),
  component: lazyRouteComponent(() => import('./documents/documents-page'), 'DocumentsPage'),
});

/** Editor and preview of one document. */
export const documentRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '/documents/$document',
  validateSearch: (search: Search): { view?: string } => ({ view: text(search, 'view') }),
  component: lazyRouteComponent(() => import('./editor/document-page'), 'DocumentPage'),
});

export const routeTree = rootRoute.addChildren([
  signInRoute,
  appRoute.addChildren([
    startRoute,
    ownerRoute.addChildren([projectsRoute, projectRoute.addChildren([documentsRoute, documentRoute])]),
  ]),
]);
