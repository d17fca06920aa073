import { errorMessage } from './error-message.js';

it.each<[unknown, string]>([
  [new Error('cannot start', { cause: new Error('no database') }), 'cannot start: no database'],
  [
    new AggregateError([new Error('refused by ::1'), new Error('refused by 127.0.0.1')]),
    'refused by ::1; refused by 127.0.0.1',
  ],
  [new AggregateError([new Error('x')], 'none answers'), 'none answers'],
  [new TypeError(), 'TypeError'],
  [new Error('refused', { cause: { requestId: undefined } }), 'refused'],
  [new Error('refused', { cause: null }), 'refused'],
  [new Error('refused', { cause: 'no rights' }), 'refused: no rights'],
  ['a text', 'a text'],
])('formats %p', (error, expected) => {
  expect(errorMessage(error)).toBe(expected);
});
