import { ApiError, explainError, UnreachableError } from './errors';

it.each([
  [403, 'forbidden', 'Ask an admin of the team to do this, or to change your role.'],
  [403, 'model_not_allowed', 'Choose another model, or ask an admin of the team to allow this one.'],
  [429, 'rate_limited', 'Wait a moment and try again.'],
  [
    429,
    'budget_exceeded',
    'Wait for the next period of the budget, or ask an admin of the team to raise it.',
  ],
  [400, 'invalid_name', 'Check your input, then try again.'],
  [422, undefined, 'Check your input, then try again.'],
  [500, undefined, 'Try again. If it happens again, tell the operator the request id.'],
])('advises for status %s and type %s', (status, type, advice) => {
  const error = new ApiError(status, type, 'it failed', 'r-1');
  expect(explainError(error)).toEqual({ title: 'It failed', advice, requestId: 'r-1' });
});

it('does not promise another attempt at an unreachable service', () => {
  expect(explainError(new UnreachableError()).advice).toBe('Check your connection, then try again.');
});

it('reads the code of an error of the proxy, whose type is for the libraries of providers', async () => {
  const body = { error: { type: 'permission_error', code: 'model_not_allowed', message: 'no' } };
  const response = new Response(JSON.stringify(body), { status: 403, headers: { 'X-Request-Id': 'r-2' } });
  expect(await ApiError.from(response)).toMatchObject({ type: 'model_not_allowed', requestId: 'r-2' });
});
