import { splitMarkdown } from './split-markdown';

const paragraph = (number: number): string => `Paragraph ${number}. ${'Some words. '.repeat(100)}\n\n`;
const paragraphs = (count: number): string => Array.from({ length: count }, (_, i) => paragraph(i)).join('');

describe('splitMarkdown', () => {
  it('keeps a short text whole', () => {
    expect(splitMarkdown('# Title\n\nText')).toEqual(['# Title\n\nText']);
    expect(splitMarkdown('')).toEqual(['']);
  });

  it('splits a long text, and loses nothing', () => {
    const text = paragraphs(20);
    const parts = splitMarkdown(text);
    expect(parts.length).toBeGreaterThan(3);
    expect(parts.join('')).toBe(text);
    for (const part of parts) expect(part).toMatch(/^Paragraph \d+\./);
  });

  it.each([
    ['fenced code', `\`\`\`md\n${paragraphs(20)}\`\`\`\n`],
    ['a list', paragraphs(20).replaceAll('Paragraph', '- Paragraph')],
    ['a quote', paragraphs(20).replaceAll('\n\n', '\n>\n').replaceAll('Paragraph', '> Paragraph')],
  ])('does not split inside %s', (_name, text) => {
    expect(splitMarkdown(text)).toEqual([text]);
  });

  it('gives every part the definitions of links', () => {
    const parts = splitMarkdown(`See [home].\n\n${paragraphs(20)}[home]: https://example.com "Home"\n`);
    for (const part of parts) expect(part).toMatch(/\n\n\[home\]: https:\/\/example\.com "Home"$/);
  });

  it('keeps a text with footnotes whole', () => {
    expect(splitMarkdown(`A[^1]\n\n${paragraphs(20)}[^1]: note\n`)).toHaveLength(1);
  });
});
