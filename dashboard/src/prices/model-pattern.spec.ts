import { matchesPattern, sentModel } from './model-pattern';

it.each([
  ['gpt-5', 'gpt-5', true],
  ['gpt-5', 'gpt-5-mini', false],
  ['gpt-*', 'gpt-', true],
  ['*', '', true],
  ['*-mini', 'gpt-5-mini', true],
  ['a*a', 'a', false],
  ['a*b*c', 'axbyc', true],
  ['a*b*c', 'axcyb', false],
  ['GPT-*', 'gpt-5', false],
])('the pattern %s and the model %s: %p', (pattern, model, isMatch) => {
  expect(matchesPattern(pattern, model)).toBe(isMatch);
});

it.each([
  [null, 'gpt-5', 'gpt-5'],
  [[{ model: 'openai/*', as: '*' }], 'openai/gpt-5', 'gpt-5'],
  [[{ model: '*', as: 'openai/*' }], 'gpt-5', 'openai/gpt-5'],
  [[{ model: 'fast', as: 'gpt-5-mini' }], 'fast', 'gpt-5-mini'],
  [[{ model: 'x*', as: null }], 'xy', 'xy'],
  [[{ model: 'x*', as: '$&*' }], 'xy', '$&y'],
])('applies the rules %j and sends %s as %s', (rules, model, sent) => {
  expect(sentModel(rules, model)).toBe(sent);
});
