import type { TestApp } from './app.js';

/**
 * Access to a route. `public`: everybody. `page`: the page itself checks the session cookie. `session`: every user with
 * a session. `member` and `admin`: members and admins of the organization. `operator`: the admin token, if configured.
 */
export type Access = 'public' | 'page' | 'operator' | 'session' | 'member' | `admin: ${string}`;

/**
 * All routes of the service with their access. A test fails if a route is missing or does not exist.
 */
export const ROUTES: Record<string, Access> = {
  'GET /healthz': 'public',
  'GET /readyz': 'public',
  'GET /metrics': 'operator',

  'GET /me/organizations': 'session',
  'POST /me/organizations': 'session',
  'GET /me/organizations/:organizationId': 'member',
  'PUT /me/organizations/:organizationId': 'admin: rename the organization',
  'DELETE /me/organizations/:organizationId': 'admin: delete the organization',
  'GET /me/organizations/:organizationId/audit': 'admin: read the audit trail',
  'GET /me/organizations/:organizationId/members': 'member',
  'PUT /me/organizations/:organizationId/members/:userId': 'admin: change roles',
  'DELETE /me/organizations/:organizationId/members/:userId': 'admin: remove members',

  'POST /me/organizations/:organizationId/invite': 'admin: invite members',
  'GET /me/organizations/:organizationId/invitations': 'admin: list invitations',
  'DELETE /me/organizations/:organizationId/invitations/:invitationId': 'admin: cancel invitations',
  'POST /me/organizations/:organizationId/invitations/:invitationId/resend': 'admin: resend invitations',
  'GET /me/invitations': 'session',
  'POST /me/invitations/preview': 'session',
  'POST /me/invitations/accept': 'session',
  'POST /me/invitations/:invitationId/accept': 'session',
  'POST /me/invitations/:invitationId/decline': 'session',

  'GET /me/keys': 'session',
  'POST /me/keys': 'session',
  'PUT /me/keys/:keyId': 'session',
  'DELETE /me/keys/:keyId': 'session',
  'GET /me/organizations/:organizationId/keys': 'member',
  'POST /me/organizations/:organizationId/keys': 'member',
  'DELETE /me/organizations/:organizationId/keys/:keyId': 'member',

  'GET /me/keys/:keyId/limits': 'session',
  'PUT /me/keys/:keyId/limits': 'session',
  'GET /me/organizations/:organizationId/keys/:keyId/limits': 'admin: read the limits of keys',
  'PUT /me/organizations/:organizationId/keys/:keyId/limits': 'admin: change the limits of keys',
  'GET /me/limits': 'session',
  'PUT /me/limits': 'session',
  'GET /me/organizations/:organizationId/limits': 'member',
  'PUT /me/organizations/:organizationId/limits': 'admin: change limits',
  'GET /me/organizations/:organizationId/members/:userId/limits': 'admin: read the limits of other members',

  'GET /me/prices': 'session',
  'PUT /me/prices': 'session',
  'GET /me/prices/list': 'session',
  'GET /me/organizations/:organizationId/prices': 'member',
  'PUT /me/organizations/:organizationId/prices': 'admin: change prices',

  'GET /me/usage': 'session',
  'GET /me/usage/requests': 'session',
  'GET /me/organizations/:organizationId/usage': 'member',
  'GET /me/organizations/:organizationId/usage/requests': 'member',

  'GET /dashboard/config.json': 'public',
  'POST /auth/session': 'page',
  'DELETE /auth/session': 'page',
  'GET /auth/device': 'page',
  'POST /auth/device/approve': 'page',
  'POST /auth/device/deny': 'page',
  'POST /auth/device/code': 'public',
  'POST /auth/device/token': 'public',
  'POST /oauth/device_authorization': 'public',
  'POST /oauth/token': 'public',
  'POST /oauth/revoke': 'public',
  'POST /oauth/introspect': 'public',
  'GET /.well-known/oauth-authorization-server': 'public',
  'GET /me/device-requests/:userCode': 'session',
  'POST /me/device-requests/:userCode/approve': 'session',
  'POST /me/device-requests/:userCode/deny': 'session',

  ...owned('upstreams', {
    'GET ': 'admin: list upstreams',
    'POST ': 'admin: create upstreams',
    'GET /:upstreamId': 'admin: read upstreams',
    'PUT /:upstreamId': 'admin: update upstreams',
    'DELETE /:upstreamId': 'admin: delete upstreams',
    'POST /:upstreamId/test': 'admin: test upstreams',
  }),
  ...owned('projects', {
    'GET ': 'member',
    'POST ': 'admin: create projects',
    'GET /:projectId': 'member',
    'PUT /:projectId': 'admin: update projects',
    'DELETE /:projectId': 'admin: delete projects',
  }),
  ...owned('projects/:projectId/export', { 'GET ': 'member' }),
  ...owned('projects/:projectId/documents', {
    'GET ': 'member',
    'POST ': 'admin: create documents',
    'GET /:documentId': 'member',
    'PUT /:documentId': 'admin: update documents',
    'DELETE /:documentId': 'admin: delete documents',
  }),
};

/** Routes at the two addresses of an owner. Every user is an admin of the personal organization. */
function owned(path: string, routes: Record<string, Access>): Record<string, Access> {
  const entries = Object.entries(routes).flatMap(([route, access]): [string, Access][] => {
    const [method, rest = ''] = route.split(' ');
    return [
      [`${method} /me/${path}${rest}`, 'session'],
      [`${method} /me/organizations/:organizationId/${path}${rest}`, access],
    ];
  });
  return Object.fromEntries(entries);
}

/** Reads the routes of the running app from its router, without the pages of the API documentation. */
export function routesOf({ app }: TestApp): string[] {
  const { router } = app.getHttpAdapter().getInstance() as {
    router: { stack: { route?: { path: string; methods: Record<string, boolean> } }[] };
  };
  return router.stack.flatMap(({ route }) => {
    if (!route || route.path.endsWith('*everything}') || /^\/(docs|openapi|assets|$)/.test(route.path))
      return [];
    return Object.keys(route.methods).map((method) => `${method.toUpperCase()} ${route.path}`);
  });
}
