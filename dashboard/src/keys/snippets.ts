/** Example of how a tool uses a key. */
export interface Snippet {
  readonly name: string;
  readonly code: string;
}

const OPENAI_MODEL = 'gpt-5-mini';
const ANTHROPIC_MODEL = 'claude-sonnet-4-5';

/**
 * Examples for the usual tools.
 * @param url address of mintkeep, without a slash at the end
 */
export function createSnippets(url: string, key: string): Snippet[] {
  return [
    { name: 'curl', code: curl(url, key) },
    { name: 'OpenAI (TypeScript)', code: openaiTypeScript(url, key) },
    { name: 'OpenAI (Python)', code: openaiPython(url, key) },
    { name: 'Anthropic (TypeScript)', code: anthropicTypeScript(url, key) },
    { name: 'Anthropic (Python)', code: anthropicPython(url, key) },
    { name: 'Claude Code', code: `ANTHROPIC_BASE_URL=${url} ANTHROPIC_AUTH_TOKEN=${key} claude` },
    { name: 'Codex', code: codex(url, key) },
    { name: 'Environment', code: environment(url, key) },
  ];
}

const curl = (url: string, key: string) => `curl ${url}/v1/chat/completions \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "${OPENAI_MODEL}", "messages": [{"role": "user", "content": "Hello"}]}'`;

const openaiTypeScript = (url: string, key: string) => `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${url}/v1', apiKey: '${key}' });
const completion = await client.chat.completions.create({
  model: '${OPENAI_MODEL}',
  messages: [{ role: 'user', content: 'Hello' }],
});
console.log(completion.choices[0].message.content);`;

const openaiPython = (url: string, key: string) => `from openai import OpenAI

client = OpenAI(base_url="${url}/v1", api_key="${key}")
completion = client.chat.completions.create(
    model="${OPENAI_MODEL}",
    messages=[{"role": "user", "content": "Hello"}],
)
print(completion.choices[0].message.content)`;

const anthropicTypeScript = (url: string, key: string) => `import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic({ baseURL: '${url}', apiKey: '${key}' });
const message = await client.messages.create({
  model: '${ANTHROPIC_MODEL}',
  max_tokens: 1024,
  messages: [{ role: 'user', content: 'Hello' }],
});
console.log(message.content);`;

const anthropicPython = (url: string, key: string) => `from anthropic import Anthropic

client = Anthropic(base_url="${url}", api_key="${key}")
message = client.messages.create(
    model="${ANTHROPIC_MODEL}",
    max_tokens=1024,
    messages=[{"role": "user", "content": "Hello"}],
)
print(message.content)`;

const codex = (url: string, key: string) => `# ~/.codex/config.toml; start with: OPENAI_API_KEY=${key} codex
model_provider = "mintkeep"

[model_providers.mintkeep]
name = "mintkeep"
base_url = "${url}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"`;

const environment = (url: string, key: string) => `export OPENAI_BASE_URL=${url}/v1
export OPENAI_API_KEY=${key}
export ANTHROPIC_BASE_URL=${url}
export ANTHROPIC_AUTH_TOKEN=${key}`;
