import type { Agent } from '../../support/app.js';

/** Project of a test, in the personal organization of its person. */
export interface TestProject {
  readonly owner: number;
  readonly project: number;
  /** Path of the project's page. */
  readonly path: string;
  /** Creates a document and returns its id. */
  write(slug: string, title: string, content: string): Promise<number>;
  read(document: number): Promise<{ title: string; slug: string; content: string }>;
  /** Path of a document's page. */
  pathOf(document: number): string;
}

/** @param owner organization; the personal one if it is absent */
export async function createTestProject(agent: Agent, name: string, owner?: number): Promise<TestProject> {
  const id = owner ?? (await personalOf(agent));
  const base = `/me/organizations/${id}/projects`;
  const { body } = await agent.post(base).send({ name }).expect(201);
  const project = body.id as number;
  const path = `/o/${id}/projects/${project}`;
  return {
    ...{ owner: id, project, path },
    write: async (slug, title, content) => {
      const created = await agent
        .post(`${base}/${project}/documents`)
        .send({ slug, title, content })
        .expect(201);
      return created.body.id as number;
    },
    read: async (document) => (await agent.get(`${base}/${project}/documents/${document}`).expect(200)).body,
    pathOf: (document) => `${path}/documents/${document}`,
  };
}

async function personalOf(agent: Agent): Promise<number> {
  const { body } = await agent.get('/me/organizations').expect(200);
  const [personal] = (body.organizations as { id: number; kind: string }[]).filter(
    ({ kind }) => kind === 'personal',
  );
  return personal!.id;
}
