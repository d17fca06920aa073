import { createSnippets } from './snippets';

const snippets = createSnippets('https://keep.example.com', 'mk_secret');

it('has the key and the address in each example', () => {
  for (const { name, code } of snippets)
    expect([name, code.includes('mk_secret') && code.includes('https://keep.example.com')]).toEqual([
      name,
      true,
    ]);
});

it('appends /v1 for OpenAI clients only, because Anthropic clients append it themselves', () => {
  const versioned = snippets
    .filter(({ code }) => code.includes('keep.example.com/v1'))
    .map(({ name }) => name);
  expect(versioned).toEqual(['curl', 'OpenAI (TypeScript)', 'OpenAI (Python)', 'Codex', 'Environment']);
});
