import { credentialHeader, providerOf, PROVIDERS } from './provider.js';

it.each([
  ['https://api.openai.com/v1', 'openai'],
  ['https://eu.api.openai.com/v1', 'openai'],
  ['https://api.openai.com./v1', 'openai'],
  ['https://api.anthropic.com', 'anthropic'],
  ['https://openrouter.ai/api/v1', 'openrouter'],
  ['https://generativelanguage.googleapis.com/v1beta/openai', 'google'],
  ['https://europe-west1-aiplatform.googleapis.com/v1', 'google'],
  ['https://api.mistral.ai/v1', 'mistral'],
  ['https://api.groq.com/openai/v1', 'groq'],
  ['https://acme.openai.azure.com/openai/v1', 'azure'],
  ['https://api.x.ai/v1', 'xai'],
  ['http://localhost:11434/v1', 'custom'],
  ['http://127.0.0.1/api.openai.com', 'custom'],
  ['https://api-openai.com', 'custom'],
  ['https://notopenai.com', 'custom'],
  ['https://openai.com.evil.example', 'custom'],
  ['https://fedex.ai', 'custom'],
])('%s belongs to %s', (baseUrl, provider) => {
  expect(providerOf(baseUrl)).toBe(provider);
  expect(PROVIDERS).toContain(provider);
});

it('sends the API key to Anthropic in its own header, and to all others as a bearer token', () => {
  for (const provider of PROVIDERS) {
    const header = provider === 'anthropic' ? { 'x-api-key': 'key' } : { authorization: 'Bearer key' };
    expect(credentialHeader(provider, 'key')).toEqual(header);
  }
});
