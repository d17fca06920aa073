import { toUpstreamBody, toUpstreamValues } from './upstream-values';

const UPSTREAM = {
  ...{ id: 1, name: 'Main', base_url: 'https://api.openai.com/v1', provider: 'openai' as const },
  ...{ priority: 1, enabled: true, api_key_hint: 'abcd', created_at: '', updated_at: '' },
};
const FIELDS = { name: 'Main', base_url: 'https://api.openai.com/v1', api_key: '' };

it.each([
  [null, []],
  [
    [
      { model: 'openai/*', as: '*' },
      { model: 'o3', as: null },
    ],
    [402, 429],
  ],
])('keeps the rules %j and the statuses %j', (models, failover_on) => {
  const values = toUpstreamValues({ ...UPSTREAM, models, failover_on });
  expect(toUpstreamBody(values)).toEqual({ ...FIELDS, models, failover_on });
});

it('sends every model for a new upstream, and no rules that are switched off', () => {
  expect(toUpstreamBody(toUpstreamValues())).toMatchObject({ models: null, failover_on: [] });
  const rules = [{ model: 'a', as: '' }];
  expect(toUpstreamBody({ ...toUpstreamValues(), rules }).models).toBeNull();
});
