/** Escaped markup, which is inserted into a page unchanged. */
export class Html {
  constructor(private readonly markup: string) {}

  toString(): string {
    return this.markup;
  }
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Values of a template; `undefined`, `null` and `false` render as nothing. */
type Interpolated = Html | string | number | false | null | undefined | readonly Interpolated[];

/** Builds markup from a template. Interpolated values are escaped unless they are {@link Html}. */
export function html(parts: TemplateStringsArray, ...values: Interpolated[]): Html {
  return new Html(parts.reduce((markup, part, i) => markup + render(values[i - 1]) + part));
}

function render(value: Interpolated): string {
  if (value instanceof Html) return value.toString();
  if (value instanceof Array) return value.map(render).join('');
  if (value === undefined || value === null || value === false) return '';
  return String(value).replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}
