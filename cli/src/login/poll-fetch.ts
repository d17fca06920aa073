import type { CustomFetch } from 'openid-client';

const PENDING = { error: 'authorization_pending' };

/** Whether a request got no response at all. openid-client wraps only timeouts. */
export function isNetworkError(error: unknown): boolean {
  const { name, code } = (error ?? {}) as { name?: unknown; code?: unknown };
  return name === 'TypeError' || name === 'TimeoutError' || code === 'OAUTH_TIMEOUT';
}

/**
 * Wraps the `fetch` of a poll: network errors, 5xx and 429 become "pending". The client then polls again at its interval,
 * which it would forget if the poll failed.
 * @param onResult called with the failure, or with undefined after a response
 */
export function retryingFetch(fetch: CustomFetch, onResult: (failure: unknown) => void): CustomFetch {
  return async (url, options) => {
    let response: Response;
    try {
      response = await fetch(url, options);
    } catch (error) {
      if (!isNetworkError(error)) throw error;
      onResult(error);
      return Response.json(PENDING, { status: 400 });
    }
    const isTemporary = response.status >= 500 || response.status === 429;
    onResult(isTemporary ? new TemporaryFailure(response.status) : undefined);
    if (!isTemporary) return response;
    await response.body?.cancel();
    return Response.json(PENDING, { status: 400 });
  };
}

/** The server responded with a status after which the client tries again. */
export class TemporaryFailure extends Error {
  constructor(readonly status: number) {
    super(`status ${status}`);
  }
}
