import { FORM } from './bodies.js';
import type { FuzzDocument, Operation } from './requests.js';

/** A request that looks for code whose cost grows faster than its input. */
export interface CostlyInput {
  readonly name: string;
  /** CPU time that the service may need. */
  readonly limitMs: number;
  /** Built for each use: all of them together would be large. */
  readonly bytes: () => Buffer;
}

/** Parts of an input, beyond those that every request has. */
export interface Shape {
  readonly name: string;
  readonly query?: string;
  /** Appended to the path. */
  readonly path?: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly type?: string;
  readonly body?: () => string;
  /** Bytes in each chunk of the body; a body of a known length when left out. */
  readonly chunkBytes?: number;
}

const KIB = 1_024;
/** All of `HEADER_LIMIT` but for the headers that each request needs. */
const HEAD_CHARACTERS = 15 * KIB;
const JSON_TYPE = 'application/json';
const ANONYMOUS_BODY_BYTES = 16 * KIB;
const SESSION_BODY_BYTES = KIB * KIB;

const fill = (piece: string, length: number): string =>
  piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
const long = (piece: string): string => fill(piece, HEAD_CHARACTERS);
const list = (count: number, item: (index: number) => string, separator: string): string =>
  Array.from({ length: count }, (_, i) => item(i)).join(separator);

/** Pieces of which paths, queries and forms are made. */
const PIECES = [
  'a=&',
  'a&',
  '&',
  '%',
  '%41',
  '%ed%a0%80',
  '+',
  ' '.repeat(8),
  '/',
  'a/',
  '[',
  'a[b]=&',
  ';',
  ',',
  '=',
  'B',
  '-',
];

/** Inputs in the request line. */
const PATHS: readonly Shape[] = [
  ...PIECES.filter((piece) => !piece.includes(' ')).flatMap((piece) => [
    { name: `a query of ${piece}`, query: long(piece) },
    { name: `a path of ${piece}`, path: `/${long(piece)}` },
  ]),
  { name: 'a query of 1,000 names', query: list(1_000, (i) => `p${i}=${i}`, '&') },
];

/** Long values of one query parameter. */
function queryValues(name: string): Shape[] {
  const pieces = [
    ...['+', '%20', 'a', 'B-', '%', ',', '1,', '0', '%00', '/', '%09', '/%09', 'model,'],
    ...['%E2%80%AE', '%F0%9F%98%80'], // a bidirectional override, an emoji
  ];
  return [
    ...pieces.map((piece) => ({
      name: `${name} of ${piece}`,
      query: `${name}=${fill(piece, HEAD_CHARACTERS - name.length)}`,
    })),
    { name: `${name} often`, query: fill(`${name}=1&`, HEAD_CHARACTERS) },
    { name: `${name}[] often`, query: fill(`${name}[]=model&`, HEAD_CHARACTERS) },
  ];
}

const header = (name: string, piece: string, prefix = ''): Shape => ({
  name: `${name}: ${prefix}${piece} ...`,
  headers: [[name, (prefix + long(piece)).slice(0, HEAD_CHARACTERS).trimEnd()]],
});
const manyHeaders = (name: (index: number) => string): [string, string][] =>
  Array.from({ length: 90 }, (_, i) => [name(i), 'a'.repeat(150)]);

const CREDENTIALS: readonly Shape[] = [
  ...['a=b; ', ';', 'mintkeep_session=a.b.c; ', '=', ' ;'].map((piece) => header('Cookie', piece)),
  ...['a', '.', 'eyJ'].map((piece) => header('Cookie', piece, 'mintkeep_session=')),
  ...['a', ' a', '.', 'a.'].map((piece) => header('Authorization', piece, 'Bearer ')),
  { name: 'Authorization: Bearer, blanks, x', headers: [['Authorization', `Bearer${long(' ')}x y`]] },
];

const HEADERS: readonly Shape[] = [
  ...['127.0.0.1,', ',', '::1,', ' ', '1', '['].map((piece) => header('X-Forwarded-For', piece, 'x')),
  ...['a/b;q=0.1,', ',', '*/*,', ';', 'text/csv;a="', 'a/b;'].map((piece) => header('Accept', piece)),
  ...['"a",', ',', 'W/"', ' ,'].flatMap((piece) => [
    header('If-None-Match', piece),
    header('If-Match', piece),
  ]),
  ...['a', ':', '['].map((piece) => header('Origin', piece, 'http://')),
  ...['\t', ';'].map((piece) => header('Content-Type', piece, FORM)),
  header('X-Request-Id', 'a'),
  header('Host', 'a'),
  { name: 'a hundred headers', headers: manyHeaders((i) => `x-${i}`) },
  { name: 'one header a hundred times', headers: manyHeaders(() => 'accept') },
  { name: 'a hundred cookies', headers: manyHeaders(() => 'cookie') },
];

/** Fields of all forms and JSON bodies that routes without a session take. */
const ANONYMOUS_FIELDS = [
  ...['user_code', 'csrf_token', 'organization_id', 'client_id', 'name', 'hostname'],
  ...['grant_type', 'device_code', 'email', 'return_to'],
];

/** @param isFull whether to fill the request line and the headers as well */
export function anonymousShapes(method: string, isFull: boolean): Shape[] {
  const queries = ['user_code', 'return_to'].flatMap(queryValues);
  return [
    ...(isFull ? [...CREDENTIALS, ...HEADERS] : []),
    ...(isFull && method === 'GET' ? [...PATHS, ...queries] : []),
    ...(method === 'GET' ? [] : anonymousBodies()),
  ];
}

function anonymousBodies(): Shape[] {
  const fields = ANONYMOUS_FIELDS.map((field) => [field]);
  return [
    ...bodies(ANONYMOUS_BODY_BYTES),
    ...[...fields, ANONYMOUS_FIELDS].flatMap((members) => [
      ...bodiesWith(members, ANONYMOUS_BODY_BYTES, FORM),
      ...bodiesWith(members, ANONYMOUS_BODY_BYTES),
    ]),
  ].map(sameOrigin);
}

/** Bodies that have to be rejected before they are parsed. */
export function oversizeBodies(method: string): Shape[] {
  if (method === 'GET') return [];
  const shapes = [...bodies(118_000), ...bodies(SESSION_BODY_BYTES)];
  return shapes.filter(({ chunkBytes }) => chunkBytes === undefined).map(sameOrigin);
}

const sameOrigin = (shape: Shape): Shape => ({ ...shape, headers: [['Sec-Fetch-Site', 'same-origin']] });

export function sessionQueries({ parameters = [] }: Operation): Shape[] {
  const names = parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
  return [...PATHS, ...HEADERS, ...names.flatMap(queryValues)];
}

export function sessionBodies({ requestBody }: Operation, { components }: FuzzDocument): Shape[] {
  const { $ref = '' } = requestBody?.content[JSON_TYPE]?.schema ?? {};
  const members = Object.keys(components.schemas[$ref.split('/').at(-1)!]?.properties ?? {});
  return [
    ...bodiesOfJson(SESSION_BODY_BYTES),
    ...[...members.map((member) => [member]), members].flatMap((some) =>
      bodiesWith(some, SESSION_BODY_BYTES),
    ),
  ];
}

/** Forms and JSON of a size, for any route. */
function bodies(size: number): Shape[] {
  const form = (name: string, body: () => string) => ({ name: `a form of ${name}`, type: FORM, body });
  return [
    ...PIECES.map((piece) => form(piece, () => fill(piece, size))),
    form('distinct names', () => list(size / 8, (i) => `${i}=`, '&').slice(0, size)),
    ...bodiesOfJson(size),
    { name: 'a form in chunks of a byte', type: FORM, body: () => fill('a=&', size), chunkBytes: 1 },
  ];
}

/** JSON of a size. */
function bodiesOfJson(size: number): Shape[] {
  const json = (name: string, body: () => string) => ({ name: `JSON of ${name}`, type: JSON_TYPE, body });
  const half = Math.floor(size / 2) - 3;
  const repeated = (piece: string) => list(Math.floor((size - 8) / (piece.length + 1)), () => piece, ',');
  const members = (name: (index: number) => string) =>
    `{${list(Math.floor(size / 14), (i) => `"${name(i)}":1`, ',')}}`;
  return [
    json('open arrays', () => fill('[', size)),
    json('a member of arrays in arrays', () => `{"x":${'['.repeat(half)}${']'.repeat(half)}}`),
    json('objects in objects', () => `${fill('{"a":', half)}`),
    json('empty arrays', () => `{"x":[${repeated('[]')}]}`),
    json('empty objects', () => `{"x":[${repeated('{}')}]}`),
    json('distinct members', () => members((i) => `m${i}`)),
    json('members that are numbers', () => members((i) => String(i * 64))),
    json('one member again and again', () => `{${repeated('"a":1')}}`),
    json('digits', () => `{"x":${fill('1', size - 8)}}`),
    json('escapes', () => `{"x":"${fill('\\u0020', 6 * Math.floor((size - 9) / 6))}"}`),
    json('blanks', () => fill(' ', size)),
    {
      ...json('one string in chunks of a byte', () => `{"x":"${fill('a', size - 8)}"}`),
      chunkBytes: 1,
    },
  ];
}

/** Long values of the members of a body. */
function bodiesWith(members: readonly string[], size: number, type = JSON_TYPE): Shape[] {
  const room = Math.floor(size / Math.max(1, members.length)) - 40;
  const pieces = [
    ...[' ', 'a', '@', 'a@', '.', 'a.', '/', 'http://', '-', '"', 'B', '1'],
    ...['\u3000', '\u202e', '\u{1f600}'], // a wide blank, a bidirectional override, an emoji
  ];
  return pieces.map((piece) => {
    const pieceBytes = type === FORM ? encodeURIComponent(piece).length : JSON.stringify(piece).length - 2;
    const value = () =>
      `x${piece.repeat(Math.floor(room / Math.max(pieceBytes, Buffer.byteLength(piece))))}x`;
    const fields = () => Object.fromEntries(members.map((member) => [member, value()]));
    const body = () => (type === FORM ? new URLSearchParams(fields()).toString() : JSON.stringify(fields()));
    return { name: `${type} with ${members.join(', ')} of ${piece}`, type, body };
  });
}

/** Route and credentials of a request. */
export interface Target {
  readonly method: string;
  readonly path: string;
  readonly authorization?: string;
  readonly limitMs: number;
}

/** A request of a shape to a route. */
export function inputOf({ method, path, authorization, limitMs }: Target, shape: Shape): CostlyInput {
  const { name, query, body, chunkBytes } = shape;
  const target = `${path}${shape.path ?? ''}${query === undefined ? '' : `?${query}`}`;
  const lines = shape.headers ?? [];
  const hasHost = lines.some(([header]) => header === 'Host');
  const head = [
    `${method} ${target} HTTP/1.1`,
    ...(hasHost ? [] : ['Host: localhost']),
    'Connection: close',
    ...(authorization === undefined ? [] : [`Authorization: ${authorization}`]),
    ...(shape.type === undefined ? [] : [`Content-Type: ${shape.type}`]),
    ...lines.map(([header, value]) => `${header}: ${value}`),
  ].join('\r\n');
  return {
    name: `${method} ${path} with ${name}`,
    limitMs,
    bytes: () => framed(head, body?.() ?? '', chunkBytes),
  };
}

function framed(head: string, text: string, chunkBytes?: number): Buffer {
  const body = Buffer.from(text);
  if (chunkBytes === undefined)
    return Buffer.concat([Buffer.from(`${head}\r\nContent-Length: ${body.length}\r\n\r\n`), body]);
  const chunks = Array.from({ length: Math.ceil(body.length / chunkBytes) }, (_, i) => {
    const chunk = body.toString('latin1', i * chunkBytes, (i + 1) * chunkBytes);
    return `${chunk.length.toString(16)}\r\n${chunk}\r\n`;
  });
  return Buffer.from(`${head}\r\nTransfer-Encoding: chunked\r\n\r\n${chunks.join('')}0\r\n\r\n`, 'latin1');
}
