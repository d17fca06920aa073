import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { join as joinPath } from 'node:path';
import { strFromU8, unzipSync } from 'fflate';
import { startApp } from '../support/app.js';
import type { Agent, TestApp } from '../support/app.js';
import { join, OWNER_KINDS, teamOwner } from '../support/owners.js';
import type { TestOwner } from '../support/owners.js';
import { inParallel, tally } from '../support/parallel.js';
import { sessionFor } from '../support/sessions.js';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

async function createProject({ admin, base }: TestOwner, name = 'Handbook'): Promise<string> {
  const { body } = await admin.post(`${base}/projects`).send({ name }).expect(201);
  return `${base}/projects/${body.id}`;
}

async function createDocument(agent: Agent, project: string, slug: string, content = `# ${slug}\n`) {
  const document = { title: `The ${slug}`, slug, content };
  return (await agent.post(`${project}/documents`).send(document).expect(201)).body;
}

async function exportOf(agent: Agent, project: string, query = '') {
  const { body, headers } = await agent
    .get(`${project}/export${query}`)
    .buffer(true)
    .parse(readBytes)
    .expect(200);
  const files = Object.entries(unzipSync(body as Buffer));
  return {
    headers,
    bytes: body as Buffer,
    files: Object.fromEntries(files.map(([k, v]) => [k, strFromU8(v)])),
  };
}

function readBytes(response: unknown, done: (error: Error | null, body: Buffer) => void): void {
  const chunks: Buffer[] = [];
  const stream = response as IncomingMessage;
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  stream.on('end', () => done(null, Buffer.concat(chunks)));
}

describe.each(OWNER_KINDS)('the export of a project of %s', (_kind, makeOwner) => {
  let owner: TestOwner;
  let project: string;
  beforeEach(async () => {
    owner = await makeOwner(app);
    project = await createProject(owner);
  });

  it('has a file with the stored body for each document', async () => {
    const contents = { a: '', b: 'ä\r\n😀 ', c: 'x'.repeat(200_000) };
    for (const [slug, content] of Object.entries(contents))
      await createDocument(owner.admin, project, slug, content);
    const { files, headers, bytes } = await exportOf(owner.admin, project);
    expect(files).toEqual({ 'a.md': contents.a, 'b.md': contents.b, 'c.md': contents.c });
    expect(headers['content-type']).toBe('application/zip');
    expect(headers['content-disposition']).toBe('attachment; filename=Handbook.zip');
    expect(bytes.length).toBeLessThan(10_000);
  });

  it('is an empty archive for an empty project', async () => {
    expect((await exportOf(owner.admin, project)).files).toEqual({});
  });

  it('precedes the bodies by front matter on demand', async () => {
    const { id } = await createDocument(owner.admin, project, 'a', '---\nown: 1\n---\n');
    const title = 'A "title": # \u2028\u007f\\';
    const { body } = await owner.admin.put(`${project}/documents/${id}`).send({ title }).expect(200);
    const { files } = await exportOf(owner.admin, project, '?front_matter=true');
    const quoted = 'title: "A \\"title\\": # \\u2028\\u007f\\\\"';
    const times = `created: ${body.created_at}\nupdated: ${body.updated_at}`;
    expect(files['a.md']).toBe(`---\n${quoted}\n${times}\n---\n---\nown: 1\n---\n`);
    await owner.admin.get(`${project}/export?front_matter=maybe`).expect(400);
  });

  it('has an entity tag that changes with its bytes, and only then', async () => {
    const document = await createDocument(owner.admin, project, 'a');
    const url = `${project}/documents/${document.id}`;
    const seen = new Set<string>();
    const changes = [
      () => owner.admin.put(url).send({ content: 'other' }).expect(200),
      () => owner.admin.put(url).send({ slug: 'b' }).expect(200),
      () => createDocument(owner.admin, project, 'c'),
      () => owner.admin.delete(url).expect(204),
    ];
    for (const change of [() => undefined, ...changes]) {
      await change();
      const [first, second] = [await exportOf(owner.admin, project), await exportOf(owner.admin, project)];
      expect(second.bytes.equals(first.bytes)).toBe(true);
      expect(second.headers.etag).toBe(first.headers.etag);
      const { headers } = await owner.admin
        .get(`${project}/export`)
        .set('If-None-Match', `"x", ${first.headers.etag}`)
        .expect(304);
      expect(headers.etag).toBe(first.headers.etag);
      const withMatter = await exportOf(owner.admin, project, '?front_matter=true');
      seen.add(first.headers.etag!).add(withMatter.headers.etag!);
    }
    expect(seen.size).toBe(10);
  });

  it('has safe file names', async () => {
    for (const slug of ['con', 'com1', 'console', 'nul']) await createDocument(owner.admin, project, slug);
    const { files } = await exportOf(owner.admin, project);
    expect(Object.keys(files)).toEqual(['_com1.md', '_con.md', 'console.md', '_nul.md']);
    const named = await createProject(owner, 'a/b: "c"? ');
    const { headers } = await exportOf(owner.admin, named);
    expect(headers['content-disposition']).toBe('attachment; filename="a-b- -c--.zip"');
  });

  it('is not there for others, or if the project is not', async () => {
    const stranger = await app.as(`stranger-of-${owner.user}`);
    await stranger.get(`${project}/export`).expect(404);
    await owner.admin.get(`${owner.base}/projects/999999/export`).expect(404);
    await owner.admin.get(`${owner.base}/projects/x/export`).expect(400);
    await app.anonymous.get(`${project}/export`).expect(401);
  });

  it('responds to HEAD without reading bodies', async () => {
    await createDocument(owner.admin, project, 'a');
    await rm(joinPath(app.dataDir, 'objects', 'documents'), { recursive: true });
    const { headers } = await owner.admin.head(`${project}/export`).expect(200);
    expect(headers['content-type']).toBe('application/zip');
  });

  it('is aborted if a body cannot be read', async () => {
    for (const slug of ['a', 'b', 'c']) await createDocument(owner.admin, project, slug, 'x'.repeat(500_000));
    const { body } = await owner.admin.get(`${project}/documents`).expect(200);
    await rm(joinPath(app.dataDir, 'objects', 'documents', String(body.documents[1].id)));
    await expect(exportOf(owner.admin, project)).rejects.toThrow(/aborted|socket hang up|ECONNRESET/);
    await owner.admin.get(project).expect(200);
  });
});

it('members may export', async () => {
  const team = await teamOwner(app);
  const project = await createProject(team);
  const member = await join(app, team, 'reader', 'member');
  await createDocument(team.admin, project, 'a');
  expect((await exportOf(member, project)).files).toEqual({ 'a.md': '# a\n' });
});

it('documents that change meanwhile are complete in it, old or new', async () => {
  const team = await teamOwner(app);
  const project = await createProject(team);
  const ids: number[] = [];
  for (let i = 0; i < 10; i++) ids.push((await createDocument(team.admin, project, `d${i}`, 'old')).id);
  const outcomes = tally(
    await inParallel(12, async (i) => {
      if (i % 3 === 0) {
        const url = `${project}/documents/${ids[i % 10]}`;
        return String((await team.admin.put(url).send({ content: 'new' })).status);
      }
      const { files } = await exportOf(team.admin, project);
      expect(Object.values(files).every((content) => content === 'old' || content === 'new')).toBe(true);
      return String(Object.keys(files).length);
    }),
  );
  expect(outcomes).toEqual({ '200': 4, '10': 8 });
});

it('a document that is deleted meanwhile is left out, and clients that leave do no harm', async () => {
  const team = await teamOwner(app);
  const project = await createProject(team);
  const noise = Array.from({ length: 60_000 }, () => Math.random().toString(36)).join('');
  for (let i = 0; i < 30; i++) await createDocument(team.admin, project, `d${i}`, noise);
  const authorization = `Bearer ${await sessionFor(team.user)}`;
  const open = async () => {
    const request = get(`${app.url}${project}/export`, { headers: { authorization } });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return response;
  };
  for (let i = 0; i < 12; i++) (await open()).destroy(); // more than run at once
  const paused = await open();
  const { body } = await team.admin.get(`${project}/documents`).expect(200);
  const last = body.documents.find(({ slug }: { slug: string }) => slug === 'd9');
  await team.admin.delete(`${project}/documents/${last.id}`).expect(204);
  const chunks: Buffer[] = [];
  for await (const chunk of paused) chunks.push(chunk as Buffer);
  const names = Object.keys(unzipSync(Buffer.concat(chunks)));
  expect(names).toHaveLength(29);
  expect(names).not.toContain('d9.md');
});

it('an organization has few exports at once', async () => {
  const team = await teamOwner(app);
  const project = await createProject(team);
  const noise = Array.from({ length: 80_000 }, () => Math.random().toString(36))
    .join('')
    .slice(0, 1_000_000);
  for (let i = 0; i < 20; i++) await createDocument(team.admin, project, `d${i}`, noise);
  const authorization = `Bearer ${await sessionFor(team.user)}`;
  const unread = Array.from({ length: 24 }, () =>
    get(`${app.url}${project}/export`, { headers: { authorization } }),
  );
  for (const request of unread) request.on('error', () => undefined); // they are not read, and abandoned at the end
  const other = await teamOwner(app);
  expect((await exportOf(other.admin, await createProject(other))).files).toEqual({});
  const { body, headers } = await team.admin.get(`${project}/export`).expect(429);
  expect(body.error.type).toBe('rate_limited');
  expect(headers['retry-after']).toBe('10');
  for (const request of unread) request.destroy();
});
