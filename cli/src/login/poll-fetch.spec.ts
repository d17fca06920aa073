import { isNetworkError, retryingFetch, TemporaryFailure } from './poll-fetch.js';

const options = { body: null, headers: {}, method: 'POST', redirect: 'manual' } as const;

async function pollWith(fetch: () => Promise<Response>): Promise<[number, unknown, unknown]> {
  let failure: unknown;
  const response = await retryingFetch(fetch, (result) => (failure = result))('http://x', options);
  return [response.status, await response.json(), failure];
}

it.each([500, 502, 503, 504, 429])('a response with status %d counts as pending', async (status) => {
  const [returned, body, failure] = await pollWith(() => Promise.resolve(new Response('x', { status })));
  expect([returned, body]).toEqual([400, { error: 'authorization_pending' }]);
  expect(failure).toEqual(new TemporaryFailure(status));
});

it('an error of the network counts as pending', async () => {
  const error = new TypeError('fetch failed');
  const [, body, failure] = await pollWith(() => Promise.reject(error));
  expect([body, failure]).toEqual([{ error: 'authorization_pending' }, error]);
});

it('passes other responses on', async () => {
  const denied = () => Promise.resolve(Response.json({ error: 'access_denied' }, { status: 400 }));
  expect(await pollWith(denied)).toEqual([400, { error: 'access_denied' }, undefined]);
});

it('passes an abort on', async () => {
  const abort = () => Promise.reject(new DOMException('aborted', 'AbortError'));
  await expect(pollWith(abort)).rejects.toThrow('aborted');
});

it('tells errors of the network from others', () => {
  expect(isNetworkError(new TypeError('fetch failed'))).toBe(true);
  expect(isNetworkError(new DOMException('late', 'TimeoutError'))).toBe(true);
  expect(isNetworkError(new Error('x'))).toBe(false);
});
