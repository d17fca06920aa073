/**
 * The reference for the knowledge base: the same routes, SQL and responses with `node:http` and `pg` alone. The handler
 * verifies each token once and validates nothing else. It marks the lower limit of the cost and is not a model to follow.
 */
import { createSecretKey, hash, randomUUID } from 'node:crypto';
import { open, readFile, rename } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { jwtVerify } from 'jose';
import pg from 'pg';

const OBJECTS = join(process.env.DATA_DIR!, 'objects');
const SECRET = createSecretKey(Buffer.from(process.env.SESSION_JWT_SECRET!));

pg.types.setTypeParser(pg.types.builtins.INT8, Number);
pg.types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, (text) => {
  const fraction = text.slice(20, text.indexOf('+')).padEnd(3, '0');
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction}Z`;
});

const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  max: 20,
  options: '-c timezone=UTC',
});

const PROJECT = 'id, organization_id, name, description, created_at, updated_at';
const SQL = {
  organization: 'SELECT id FROM organizations WHERE personal_user_id = $1',
  projects: `SELECT ${PROJECT} FROM projects WHERE organization_id = $1 ORDER BY id`,
  project: `SELECT ${PROJECT} FROM projects WHERE id = $1 AND organization_id = $2`,
  document: `SELECT id, organization_id, project_id, title, slug, body_sha256, body_size, version, created_at,
    updated_at FROM documents WHERE id = $1 AND project_id = $2 AND organization_id = $3`,
  reserve: `INSERT INTO object_deletions (key, due_at)
    SELECT $1 || nextval($2::regclass), now() + interval '1 hour' RETURNING key`,
  insert: `INSERT INTO documents (id, organization_id, project_id, title, slug, body_sha256, body_size)
    VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING created_at, updated_at`,
  keep: 'DELETE FROM object_deletions WHERE key = $1 AND attempts = 0',
};

async function query(
  name: keyof typeof SQL,
  values: unknown[],
  client: pg.Pool | pg.PoolClient = pool,
): Promise<pg.QueryResultRow[]> {
  return (await client.query({ name, text: SQL[name], values })).rows;
}

const organizations = new Map<string, number>();

async function findOrganization({ headers }: IncomingMessage): Promise<number> {
  const cached = organizations.get(headers.authorization!);
  if (cached !== undefined) return cached;
  const { payload } = await jwtVerify(headers.authorization!.slice('Bearer '.length), SECRET);
  const [organization] = await query('organization', [payload.sub]);
  organizations.set(headers.authorization!, organization!.id);
  return organization!.id;
}

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const owner = await findOrganization(request);
  const [, , , project, , document] = request.url!.split('/');
  if (project === undefined) {
    send(response, 200, { projects: await query('projects', [owner]) });
  } else if (request.method === 'POST') {
    const created = await create(owner, Number(project), await readJson(request));
    send(response, 201, created, { ETag: `"${created.id}-1"` });
  } else if (document === undefined) {
    send(response, 200, (await query('project', [Number(project), owner]))[0]);
  } else {
    await getDocument(request, response, [Number(document), Number(project), owner]);
  }
}

async function getDocument(request: IncomingMessage, response: ServerResponse, key: number[]): Promise<void> {
  const [row] = await query('document', key);
  const { id, project_id, title, slug, version, created_at, updated_at } = row!;
  const etag = `"${id}-${version}"`;
  if (request.headers['if-none-match'] === etag) {
    response.writeHead(304, { ETag: etag }).end();
    return;
  }
  const content = await readFile(join(OBJECTS, 'documents', String(id)), 'utf8');
  send(response, 200, { id, project_id, title, slug, created_at, updated_at, content }, { ETag: etag });
}

interface NewDocument {
  title: string;
  slug: string;
  content: string;
}

async function create(owner: number, project: number, { title, slug, content }: NewDocument) {
  await query('project', [project, owner]);
  const body = Buffer.from(content);
  const [reservation] = await query('reserve', ['documents/', 'documents_id_seq']);
  const key: string = reservation!.key;
  const id = Number(key.slice('documents/'.length));
  await store(key, body);
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const values = [id, owner, project, title, slug, hash('sha256', body, 'buffer'), body.length];
    const [row] = await query('insert', values, client);
    await query('keep', [key], client);
    await client.query('COMMIT');
    const { created_at, updated_at } = row!;
    return { id, project_id: project, title, slug, created_at, updated_at, content };
  } finally {
    client.release();
  }
}

/** Stores a body with the same durability as the service. */
async function store(key: string, body: Buffer): Promise<void> {
  const temporary = join(OBJECTS, '.tmp', randomUUID());
  const file = await open(temporary, 'wx', 0o600);
  await file.writeFile(body);
  await file.sync();
  await file.close();
  await rename(temporary, join(OBJECTS, key));
  const folder = await open(join(OBJECTS, 'documents'), 'r');
  await folder.sync();
  await folder.close();
}

async function readJson(request: IncomingMessage): Promise<NewDocument> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString()) as NewDocument;
}

function send(response: ServerResponse, status: number, body: unknown, headers: OutgoingHttpHeaders = {}) {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, {
    ...headers,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': bytes.length,
  });
  response.end(bytes);
}

const server = createServer((request, response) => {
  handle(request, response).catch((error: unknown) => {
    console.error(error);
    response.writeHead(500, { 'Content-Length': 0 }).end();
  });
});
server.listen(Number(process.env.PORT), '127.0.0.1');
process.once('SIGTERM', () => process.exit(0));
