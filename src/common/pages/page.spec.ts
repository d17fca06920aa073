import { createHash } from 'node:crypto';
import type { Response } from 'express';
import { html } from './html.js';
import { sendPage } from './page.js';
import type { Page } from './page.js';

function answerWith(page: Page): { status: number; headers: Record<string, string>; body: string } {
  const answer = { status: 0, headers: {}, body: '' };
  const response = {
    status: (status: number) => Object.assign(response, (answer.status = status) && {}),
    set: (headers: Record<string, string>) =>
      Object.assign(response, Object.assign(answer.headers, headers) && {}),
    end: (body: Buffer) => (answer.body = body.toString()),
  };
  sendPage(response as unknown as Response, 200, page);
  return answer;
}

const page = { title: '<b>', body: html`<p>${'&'}</p>` };

it('allows the style sheet that it carries, and nothing else', () => {
  const { headers, body } = answerWith(page);
  const [, sheet] = /<style>(.*)<\/style>/s.exec(body)!;
  const hash = createHash('sha256').update(sheet!).digest('base64');
  expect(headers['Content-Security-Policy']).toBe(
    `default-src 'none'; style-src 'sha256-${hash}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
  );
});

it('names where its forms may end up', () => {
  const { headers } = answerWith({ ...page, formTargets: ['https://app.example.com'] });
  expect(headers['Content-Security-Policy']).toContain("form-action 'self' https://app.example.com;");
});

it('is neither cached nor guessed at, and tells other sites nothing', () => {
  expect(answerWith(page).headers).toMatchObject({
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
  });
});

it('escapes the title and leaves the body as it is', () => {
  expect(answerWith(page).body).toMatch(/<title>&lt;b&gt;<\/title>.*<p>&amp;<\/p>/s);
});
