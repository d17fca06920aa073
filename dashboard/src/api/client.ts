import createClient from 'openapi-fetch';
import type { Middleware } from 'openapi-fetch';
import { sessions } from '../session/store';
import { ApiError, UnreachableError } from './errors';
import type { components, paths } from './schema';
import { UNAUTHORIZED } from './statuses';

/** Schemas of the OpenAPI document, by name. */
export type Schemas = components['schemas'];

const BEARER = 'Bearer ';

/** Adds the session to each request, and turns responses with an error status into exceptions. */
const authenticate: Middleware = {
  onRequest({ request }) {
    const session = sessions.current();
    if (session && !request.headers.has('Authorization'))
      request.headers.set('Authorization', BEARER + session.token);
    return request;
  },
  async onResponse({ request, response }) {
    if (response.ok) return;
    if (response.status === UNAUTHORIZED)
      sessions.expire(request.headers.get('Authorization')?.slice(BEARER.length));
    throw await ApiError.from(response);
  },
  onError() {
    return new UnreachableError();
  },
};

/** Typed client of the service's API. Rejections of the service are thrown as {@link ApiError}. */
export const api = createClient<paths>({
  baseUrl: window.location.origin,
  querySerializer: { array: { style: 'form', explode: false } },
});
api.use(authenticate);

/** Awaits a request and returns its JSON. Text responses are excluded: only callers that request them get one. */
export async function take<T>(request: Promise<{ data?: T }>): Promise<Exclude<T, string>> {
  return (await request).data as Exclude<T, string>;
}

/** Sends a request that the OpenAPI types do not describe, such as a download, with the session. */
export async function fetchWithSession(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  const token = sessions.current()?.token;
  if (token !== undefined) headers.set('Authorization', BEARER + token);
  const response = await fetch(path, { ...init, headers }).catch(() => {
    throw new UnreachableError();
  });
  if (response.status === UNAUTHORIZED) sessions.expire(token);
  return response;
}

/**
 * Sends a request as {@link fetchWithSession} does.
 * @throws ApiError for a response with an error status
 */
export async function fetchOrThrow(path: string, init?: RequestInit): Promise<Response> {
  const response = await fetchWithSession(path, init);
  if (!response.ok) throw await ApiError.from(response);
  return response;
}
