import fc from 'fast-check';
import { fitting, nearlyFitting, oddString, oddValue } from './values.js';
import type { Schema, Schemas } from './values.js';

export const FORM = 'application/x-www-form-urlencoded';

/** Bytes that are sent, and their content type. */
export interface Body {
  readonly bytes: Buffer;
  readonly type: string;
}

/** Bodies that fit, that nearly do, and that are anything. */
export function bodyFor(content: Record<string, { schema: Schema }>, schemas: Schemas): fc.Arbitrary<Body> {
  const kinds = Object.entries(content).map(([type, { schema }]) =>
    fc.oneof(
      { weight: 4, arbitrary: fitting(schema, schemas).map((value) => encoded(value, type)) },
      { weight: 4, arbitrary: nearlyFitting(schema, schemas).map((value) => encoded(value, type)) },
      { weight: 2, arbitrary: mangled(fitting(schema, schemas).map((value) => encoded(value, type))) },
    ),
  );
  return fc.oneof(...kinds.map((arbitrary) => ({ weight: 8, arbitrary })), { weight: 2, arbitrary: garbage });
}

function encoded(value: unknown, type: string): Body {
  const text = type === FORM ? formOf(value as Record<string, unknown>) : JSON.stringify(value);
  return { bytes: Buffer.from(text), type };
}

function formOf(fields: Record<string, unknown>): string {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(fields))
    form.append(name, typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
  return form.toString();
}

/** Cut off, in another encoding, with members twice. */
function mangled(bodies: fc.Arbitrary<Body>): fc.Arbitrary<Body> {
  const ways: ((bytes: Buffer) => Buffer)[] = [
    (bytes) => bytes.subarray(0, bytes.length / 2),
    (bytes) => bytes.subarray(1),
    (bytes) => Buffer.from(bytes.toString(), 'latin1'),
    (bytes) => Buffer.from(bytes.toString(), 'utf16le'),
    (bytes) => Buffer.concat([Buffer.from('\ufeff'), bytes]),
    (bytes) => Buffer.concat([bytes, bytes]),
    (bytes) => Buffer.concat([bytes, Buffer.from([0xff, 0xfe, 0])]),
    (bytes) => Buffer.from(bytes.toString().replace(/^\{("[^"]*":)/, '{$1[],$1')),
    (bytes) => Buffer.from(bytes.toString().replace(/:("[^"]*"|\d+)/, ':1e999')),
    (bytes) => Buffer.concat([bytes, Buffer.alloc(1_048_577, ' ')]),
  ];
  return fc
    .tuple(bodies, fc.constantFrom(...ways))
    .map(([{ bytes, type }, way]) => ({ bytes: way(bytes), type }));
}

const DEEP = ['['.repeat(200_000), '{"name":'.repeat(100_000), `${'['.repeat(50_000)}${']'.repeat(50_000)}`];

const garbage: fc.Arbitrary<Body> = fc
  .oneof(
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    oddValue.map((value) => Buffer.from(JSON.stringify(value))),
    oddString.map((text) => Buffer.from(text)),
    fc.constantFrom('', 'null', '[]', '"x"', '{', '{}', ...DEEP).map((text) => Buffer.from(text)),
  )
  .chain((bytes) =>
    fc
      .constantFrom('application/json', FORM, 'multipart/form-data', 'x', '')
      .map((type) => ({ bytes, type })),
  );
