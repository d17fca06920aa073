import { readOutline } from './outline';

it('lists headings of both styles without markup', () => {
  const markdown = '# One **bold** #\n\nTwo\n---\n\ntext\n\n### [[slug|Three]] [x](y)\n';
  expect(readOutline(markdown)).toEqual([
    { level: 1, text: 'One bold', position: 0 },
    { level: 2, text: 'Two', position: 18 },
    { level: 3, text: 'Three x', position: 33 },
  ]);
});

it('ignores code, and headings without text', () => {
  expect(readOutline('```\n# code\n```\n\n#\n\n    # indented')).toEqual([]);
});
