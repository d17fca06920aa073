import type { Request } from 'express';
import { parseForm, TooManyParameters } from './form-body.js';

const request = (type?: string) => ({ headers: { 'content-type': type } }) as Request;
const FORM = 'application/x-www-form-urlencoded';

it.each([FORM, `${FORM}; charset=utf-8`, FORM.toUpperCase()])('reads the fields of a %s', (type) => {
  const form = parseForm(request(type), Buffer.from('email=ada%40example.com&name=A+B&name=C'))!;
  expect(form.get('email')).toBe('ada@example.com');
  expect(form.getAll('name')).toEqual(['A B', 'C']);
});

it.each([undefined, '', 'application/json', 'text/plain', `${FORM}x`])('takes %j for no form', (type) => {
  expect(parseForm(request(type), Buffer.from('a=b'))).toBeUndefined();
});

it('takes JSON for no form, whatever the header says', () => {
  expect(parseForm(request(FORM), Buffer.from(' {"email": "ada@example.com"}'))).toBeUndefined();
});

it('takes an empty body for a form without fields', () => {
  expect([...parseForm(request(FORM), Buffer.alloc(0))!]).toEqual([]);
});

it('counts parameters before it parses them, and nothing between two ampersands', () => {
  const parse = (text: string) => parseForm(request(FORM), Buffer.from(text))!;
  expect(parse('a&'.repeat(100)).size).toBe(100);
  expect(parse('&'.repeat(16_384)).size).toBe(0);
  for (const text of ['a&'.repeat(101), '&&a=1'.repeat(101)])
    expect(() => parse(text)).toThrow(TooManyParameters);
});
