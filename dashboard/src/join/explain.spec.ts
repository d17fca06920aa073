import { ApiError } from '../api/errors';
import { explainJoin, problemOf } from './explain';

it.each([
  'invitation_not_found',
  'invitation_cancelled',
  'invitation_expired',
  'invitation_used',
  'email_mismatch',
  'email_unverified',
])('explains %s with a next step', (type) => {
  const problem = explainJoin(new ApiError(409, type, 'rejected', null))!;
  expect(problem.title).not.toBe('');
  expect(problem.advice).toMatch(/Ask|Sign in|sign in/);
});

it('leaves other errors to the usual notice', () => {
  expect(explainJoin(new ApiError(500, undefined, 'internal error', null))).toBeUndefined();
  expect(explainJoin(new Error('x'))).toBeUndefined();
});

it('compares addresses without regard to case', () => {
  expect(problemOf('pending', 'Ada@Example.com', 'ada@example.com')).toBeUndefined();
  expect(problemOf('pending', 'ada@example.com', 'bob@example.com')?.advice).toContain('bob@example.com');
  expect(problemOf('expired', 'a@example.com', 'a@example.com')?.title).toContain('expired');
});
