import { targetUrl } from './target-url.js';

it.each([
  ['https://api.openai.com/v1', '/v1/chat/completions', 'https://api.openai.com/v1/chat/completions'],
  ['https://api.anthropic.com', '/v1/messages', 'https://api.anthropic.com/v1/messages'],
  [
    'https://generativelanguage.googleapis.com/v1beta/openai',
    '/v1/chat/completions',
    'https://generativelanguage.googleapis.com/v1beta/openai/chat/completions',
  ],
  ['https://open.bigmodel.cn/api/paas/v4', '/v1/models', 'https://open.bigmodel.cn/api/paas/v4/models'],
  ['https://openrouter.ai/api/v1', '/v1/models', 'https://openrouter.ai/api/v1/models'],
  ['https://example.com/gateway', '/v1/models', 'https://example.com/gateway/v1/models'],
  ['https://example.com/video', '/v1/models', 'https://example.com/video/v1/models'],
  ['https://example.com/rev1', '/v1/models', 'https://example.com/rev1/v1/models'],
  ['http://127.0.0.1:8080', '/v1/models', 'http://127.0.0.1:8080/v1/models'],
  ['http://[::1]:8080/v2', '/v1/models', 'http://[::1]:8080/v2/models'],
  ['https://v1.example.com', '/v1/models', 'https://v1.example.com/v1/models'],
  ['https://example.com/v1', '/v1', 'https://example.com/v1'],
  ['https://example.com/v1', '/v1/', 'https://example.com/v1/'],
  ['https://example.com/v1', '/v1?a=1', 'https://example.com/v1?a=1'],
  ['https://example.com/v1', '/v1/models?a=/v1/&b=%2F..', 'https://example.com/v1/models?a=/v1/&b=%2F..'],
  ['https://example.com', '/v1/models?x=/../', 'https://example.com/v1/models?x=/../'],
  ['https://example.com/v1', '/v1/v1/models', 'https://example.com/v1/v1/models'],
  ['https://example.com/v1', '/v1/files/a%20b/%2e%2e%2e', 'https://example.com/v1/files/a%20b/%2e%2e%2e'],
  ['https://example.com/v1', '/v1/models/a..b/.c', 'https://example.com/v1/models/a..b/.c'],
])('%s and %s result in %s', (baseUrl, requestTarget, expected) => {
  const { origin, path } = targetUrl(baseUrl, requestTarget)!;
  expect(origin + path).toBe(expected);
  expect(new URL(expected).origin).toBe(origin);
});

it.each([
  '/',
  '',
  '/v2/models',
  '/v1beta/models',
  '/v1models',
  'v1/models',
  '/V1/models',
  '/v1/../admin',
  '/v1/..#',
  '/v1/..#/x',
  '/v1/..;/x',
  '/v1/..%3b/x',
  '/v1/..',
  '/v1/.',
  '/v1/./models',
  '/v1/models/..?a=1',
  '/v1/%2e%2e/admin',
  '/v1/.%2E/admin',
  '/v1/..%2fadmin',
  '/v1/a%2F..%2Fadmin',
  '/v1/..\\admin',
  '/v1/a%5c..%5Cadmin',
])('%s is rejected', (requestTarget) => {
  expect(targetUrl('https://example.com/tenant/v1', requestTarget)).toBeUndefined();
});
