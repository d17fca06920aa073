import { html } from './html.js';

it('escapes what is put in, wherever it is put', () => {
  const nasty = `<b title="x" id='y'>&amp;`;
  expect(html`<p title="${nasty}">${nasty}</p>`.toString()).toBe(
    '<p title="&lt;b title=&quot;x&quot; id=&#39;y&#39;&gt;&amp;amp;">&lt;b title=&quot;x&quot; id=&#39;y&#39;&gt;&amp;amp;</p>',
  );
});

it('leaves markup of its own as it is, alone and in lists', () => {
  const items = ['a', '<'].map((item) => html`<li>${item}</li>`);
  expect(html`<ul>${items}</ul>`.toString()).toBe('<ul><li>a</li><li>&lt;</li></ul>');
});

it.each([undefined, null, false] as const)('renders nothing for %p', (nothing) => {
  expect(html`a${nothing}b`.toString()).toBe('ab');
});

it('renders zero and the empty string', () => {
  expect(html`${0}${''}`.toString()).toBe('0');
});
