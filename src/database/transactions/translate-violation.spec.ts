import { NotFound, UnsupportedEncoding } from '../../common/api/domain-error.js';
import { translateViolation } from './translate-violation.js';

const ERRORS = { projects_name_key: NotFound, projects_owner_fkey: UnsupportedEncoding };
const violation = (code: string, constraint: string) =>
  Object.assign(new Error('violated'), { code, constraint });

describe('translateViolation', () => {
  it.each([
    ['unique', '23505', 'projects_name_key', NotFound],
    ['foreign key', '23503', 'projects_owner_fkey', UnsupportedEncoding],
  ])('throws the domain error of a violated %s constraint', (_, code, constraint, expected) => {
    expect(() => translateViolation(violation(code, constraint), ERRORS)).toThrow(expected);
  });

  it.each<[string, unknown]>([
    ['a constraint without a domain error', violation('23505', 'projects_pkey')],
    ['a constraint named like a property of every object', violation('23505', 'toString')],
    ['another error of PostgreSQL', violation('23514', 'projects_name_key')],
    ['an error of something else', new Error('connection lost')],
    ['nothing', undefined],
  ])('rethrows %s unchanged', (_, error) => {
    const rethrown = thrownBy(() => translateViolation(error, ERRORS));
    expect(rethrown).toBe(error);
  });
});

function thrownBy(call: () => void): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}
