import { createRootRoute, createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { queryClient } from './api/query-client';
import { organizationsQuery } from './organizations/queries';
import { projectsQuery } from './projects/queries';
import { CrashPage, NotFoundPage } from './shell/error-pages';
import { sessions } from './session/store';

type Search = Record<string, unknown>;

/** Reads a search parameter that is a text. */
const text = (search: Search, name: string): string | undefined =>
  typeof search[name] === 'string' && search[name] !== '' ? search[name] : undefined;

/** Reads a search parameter that is a number, which the router parses, or a text. */
const id = (search: Search, name: string): string | undefined =>
  typeof search[name] === 'number' ? String(search[name]) : text(search, name);

const prefetchProjects = ({ owner }: { owner: string }): void =>
  void queryClient.prefetchQuery(projectsQuery(Number(owner)));

const rootRoute = createRootRoute({ notFoundComponent: NotFoundPage, errorComponent: CrashPage });

/** Page that signs the person in. */
export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: (search: Search): { return_to?: string } => ({ return_to: text(search, 'return_to') }),
  component: lazyRouteComponent(() => import('./session/sign-in-page'), 'SignInPage'),
});

/** Page that an invitation link leads to. */
export const joinRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/join',
  validateSearch: (search: Search): { token?: string } => ({ token: text(search, 'token') }),
  component: lazyRouteComponent(() => import('./join/join-page'), 'JoinPage'),
});

/** Pages that require a session. */
const appRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'app',
  beforeLoad: ({ location }) => {
    if (sessions.snapshot().status !== 'signed-out') return;
    const isStart = location.href === '/';
    throw redirect({ to: '/sign-in', search: isStart ? {} : { return_to: location.href }, replace: true });
  },
  // Requested while the code of the pages loads. The pages show the result or the error.
  loader: () => void queryClient.prefetchQuery(organizationsQuery),
  component: lazyRouteComponent(() => import('./shell/shell'), 'Shell'),
});

const startRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/',
  component: lazyRouteComponent(() => import('./shell/start-page'), 'StartPage'),
});

/** Pages of one organization. */
export const ownerRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/o/$owner',
  component: lazyRouteComponent(() => import('./organizations/owner'), 'OwnerLayout'),
});

/** List of the projects. */
export const projectsRoute = createRoute({
  getParentRoute: () => ownerRoute,
  path: '/projects',
  validateSearch: (search: Search): { q?: string } => ({ q: text(search, 'q') }),
  loader: ({ params }) => prefetchProjects(params),
  component: lazyRouteComponent(() => import('./projects/projects-page'), 'ProjectsPage'),
});

/** Project. Its pages share the layout, which knows the project. */
export const projectRoute = createRoute({
  getParentRoute: () => ownerRoute,
  path: '/projects/$project',
  loader: ({ params }) => prefetchProjects(params),
  component: lazyRouteComponent(() => import('./projects/project'), 'ProjectLayout'),
});

/** List of the documents of a project. */
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

const receivedRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/invitations',
  component: lazyRouteComponent(() => import('./join/received-page'), 'ReceivedPage'),
});

const membersLayoutRoute = createRoute({
  getParentRoute: () => ownerRoute,
  path: '/members',
  component: lazyRouteComponent(() => import('./members/members-layout'), 'MembersLayout'),
});

const membersRoute = createRoute({
  getParentRoute: () => membersLayoutRoute,
  path: '/',
  component: lazyRouteComponent(() => import('./members/members-page'), 'MembersPage'),
});

/** List of the invitations of a team. */
export const invitationsRoute = createRoute({
  getParentRoute: () => membersLayoutRoute,
  path: '/invitations',
  validateSearch: (search: Search): { status?: string } => ({ status: text(search, 'status') }),
  component: lazyRouteComponent(() => import('./members/invitations-page'), 'InvitationsPage'),
});

const auditRoute = createRoute({
  getParentRoute: () => membersLayoutRoute,
  path: '/audit',
  component: lazyRouteComponent(() => import('./members/audit-page'), 'AuditPage'),
});

/** List of the keys. */
export const keysRoute = createRoute({
  getParentRoute: () => ownerRoute,
  path: '/keys',
  validateSearch: (search: Search): { revoked?: string } => ({ revoked: text(search, 'revoked') }),
  component: lazyRouteComponent(() => import('./keys/keys-page'), 'KeysPage'),
});

/** Pool of the upstreams. */
export const upstreamsRoute = createRoute({
  getParentRoute: () => ownerRoute,
  path: '/upstreams',
  validateSearch: (search: Search): { add?: string } => ({ add: text(search, 'add') }),
  component: lazyRouteComponent(() => import('./upstreams/upstreams-page'), 'UpstreamsPage'),
});

/** Charts and requests of the usage. */
export const usageRoute = createRoute({
  getParentRoute: () => ownerRoute,
  path: '/usage',
  validateSearch: (
    search: Search,
  ): Partial<
    Record<'range' | 'group' | 'metric' | 'tab' | 'errors' | 'model' | 'upstream' | 'key' | 'user', string>
  > => ({
    range: text(search, 'range'),
    group: text(search, 'group'),
    metric: text(search, 'metric'),
    tab: text(search, 'tab'),
    errors: text(search, 'errors'),
    model: text(search, 'model'),
    upstream: id(search, 'upstream'),
    key: id(search, 'key'),
    user: text(search, 'user'),
  }),
  component: lazyRouteComponent(() => import('./usage/usage-page'), 'UsagePage'),
});

const playgroundRoute = createRoute({
  getParentRoute: () => ownerRoute,
  path: '/playground',
  component: lazyRouteComponent(() => import('./playground/playground-page'), 'PlaygroundPage'),
});

const settingsLayoutRoute = createRoute({
  getParentRoute: () => ownerRoute,
  path: '/settings',
  component: lazyRouteComponent(() => import('./settings/settings-layout'), 'SettingsLayout'),
});

const settingsRoute = createRoute({
  getParentRoute: () => settingsLayoutRoute,
  path: '/',
  component: lazyRouteComponent(() => import('./settings/settings-page'), 'SettingsPage'),
});

const limitsRoute = createRoute({
  getParentRoute: () => settingsLayoutRoute,
  path: '/limits',
  component: lazyRouteComponent(() => import('./limits/limits-page'), 'LimitsPage'),
});

const pricesRoute = createRoute({
  getParentRoute: () => settingsLayoutRoute,
  path: '/prices',
  component: lazyRouteComponent(() => import('./prices/prices-page'), 'PricesPage'),
});

/** All routes of the dashboard. */
export const routeTree = rootRoute.addChildren([
  signInRoute,
  joinRoute,
  appRoute.addChildren([
    startRoute,
    receivedRoute,
    ownerRoute.addChildren([
      projectsRoute,
      projectRoute.addChildren([documentsRoute, documentRoute]),
      membersLayoutRoute.addChildren([membersRoute, invitationsRoute, auditRoute]),
      keysRoute,
      upstreamsRoute,
      usageRoute,
      playgroundRoute,
      settingsLayoutRoute.addChildren([settingsRoute, limitsRoute, pricesRoute]),
    ]),
  ]),
]);
