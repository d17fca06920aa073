import { queryOptions } from '@tanstack/react-query';
import { api, take } from '../api/client';
import type { Schemas } from '../api/client';
import { queryClient } from '../api/query-client';

/** Project as lists have it. */
export type Project = Schemas['Project'];

/** All projects of an organization. */
export const projectsQuery = (owner: number) =>
  queryOptions({
    queryKey: ['projects', owner],
    queryFn: async () => {
      const request = api.GET('/me/organizations/{id}/projects', { params: { path: { id: owner } } });
      return (await take(request)).projects;
    },
  });

/** Creates a project and adds it to the list. */
export async function createProject(owner: number, body: Schemas['CreateProject']): Promise<Project> {
  const request = api.POST('/me/organizations/{id}/projects', { params: { path: { id: owner } }, body });
  const project = await take(request);
  changeList(owner, (projects) => [...projects, project]);
  return project;
}

/** Changes name or description. */
export async function updateProject(
  { organization_id: owner, id }: Project,
  body: Schemas['UpdateProject'],
): Promise<Project> {
  const path = { id: owner, project_id: id };
  const project = await take(
    api.PUT('/me/organizations/{id}/projects/{project_id}', { params: { path }, body }),
  );
  changeList(owner, (projects) => projects.map((other) => (other.id === id ? project : other)));
  return project;
}

/** Deletes a project with all its documents. */
export async function deleteProject({ organization_id: owner, id }: Project): Promise<void> {
  const path = { id: owner, project_id: id };
  await take(api.DELETE('/me/organizations/{id}/projects/{project_id}', { params: { path } }));
  changeList(owner, (projects) => projects.filter((other) => other.id !== id));
}

/** Changes the list at once, so that every page shows the new state before the list is loaded again. */
function changeList(owner: number, change: (projects: Project[]) => Project[]): void {
  const { queryKey } = projectsQuery(owner);
  queryClient.setQueryData(queryKey, (projects) => projects && change(projects));
  void queryClient.invalidateQueries({ queryKey });
}
