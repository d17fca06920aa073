import { Violation } from '../../common/body/nested-field.js';
import { ModelRules } from './model-rules.js';
import { FAILOVER_STATUSES, parseFailoverStatuses, parseModelRules, RULES_MAX } from './parse-model-rules.js';

const rulesOf = (...rules: [model: string, as?: string | null][]) =>
  new ModelRules(rules.map(([model, as = null]) => ({ model, as })));

describe('ModelRules', () => {
  it.each<[rule: [string, string?], requested: string, sent: string | undefined]>([
    [['gpt-5'], 'gpt-5', 'gpt-5'],
    [['gpt-5'], 'gpt-5-mini', undefined],
    [['openai/*', '*'], 'openai/gpt-5', 'gpt-5'],
    [['openai/*', '*'], 'openai/', ''],
    [['*', 'openai/*'], 'gpt-5', 'openai/gpt-5'],
    [['fast', 'gpt-5-mini'], 'fast', 'gpt-5-mini'],
    [['gpt-*', 'gpt-5'], 'gpt-4', 'gpt-5'],
    [['*-a-*'], 'x-a-y', 'x-a-y'],
    [['*-a-*', 'b'], 'x-a-y', 'b'],
    [['a*c', 'x*z'], 'abc', 'xbz'],
  ])('%j sends %s as %s', (rule, requested, sent) => {
    expect(rulesOf(rule).find(requested)?.toUpstream(requested)).toBe(sent);
  });

  it('takes the first rule that matches', () => {
    const rules = rulesOf(['gpt-*', 'first'], ['gpt-5', 'second'], ['*', 'third']);
    const sent = (model: string) => rules.find(model)?.toUpstream(model);
    expect([sent('gpt-5'), sent('claude')]).toEqual(['first', 'third']);
  });

  it.each<[rule: [string, string?], own: string, listed: string | undefined]>([
    [['gpt-*'], 'gpt-5', 'gpt-5'],
    [['gpt-*'], 'o3', undefined],
    [['openai/*', '*'], 'gpt-5', 'openai/gpt-5'],
    [['*', 'openai/*'], 'openai/gpt-5', 'gpt-5'],
    [['*', 'openai/*'], 'gpt-5', undefined],
    [['gpt-*', 'fixed'], 'fixed', undefined],
    [['*-*', 'x'], 'x', undefined],
    [['*-*'], 'a-b', 'a-b'],
  ])('%j lists %s of the upstream as %s', (rule, own, listed) => {
    expect(rulesOf(rule).rules[0]!.toClient(own)).toBe(listed);
  });
});

describe('parseModelRules', () => {
  it.each([
    [null, null],
    [[{ model: 'a' }], [{ model: 'a', as: null }]],
    [[{ model: 'a*', as: '*' }], [{ model: 'a*', as: '*' }]],
    [[{ model: 'a*b*', as: 'c' }], [{ model: 'a*b*', as: 'c' }]],
    [[{ model: 'a', as: null, other: 1 }], [{ model: 'a', as: null }]],
  ])('accepts %j', (value, rules) => {
    expect(parseModelRules(value)).toEqual(rules);
  });

  it.each([
    [[]],
    ['gpt-5'],
    [{}],
    [['gpt-5']],
    [[null]],
    [[{}]],
    [[{ model: '' }]],
    [[{ model: 1 }]],
    [[{ model: 'a'.repeat(257) }]],
    [[{ model: 'a\n' }]],
    [[{ model: 'a', as: '' }]],
    [[{ model: 'a', as: 1 }]],
    [[{ model: 'a', as: '*' }]],
    [[{ model: 'a*', as: '**' }]],
    [[{ model: '*a*', as: '*' }]],
    [[{ model: 'a' }, { model: 'a', as: 'b' }]],
    [Array.from({ length: RULES_MAX + 1 }, (_, i) => ({ model: String(i) }))],
  ])('rejects %j', (value) => {
    expect(parseModelRules(value)).toBeInstanceOf(Violation);
  });
});

describe('parseFailoverStatuses', () => {
  it.each([[[]], [[429]], [FAILOVER_STATUSES]])('accepts %j', (value) => {
    expect(parseFailoverStatuses(value)).toBe(value);
  });

  it.each([['429'], [429], [{}], [[400]], [[500]], [['429']], [[429, 429]], [[[429]]]])(
    'rejects %j',
    (value) => {
      expect(parseFailoverStatuses(value)).toBeInstanceOf(Violation);
    },
  );
});
