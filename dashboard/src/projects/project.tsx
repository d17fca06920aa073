import { useQuery } from '@tanstack/react-query';
import { Outlet } from '@tanstack/react-router';
import { createContext, use } from 'react';
import type { ReactNode } from 'react';
import { useOwner } from '../organizations/owner';
import { projectRoute } from '../routes';
import { Missing } from '../shell/error-pages';
import { Loaded } from '../ui/loaded';
import { projectsQuery } from './queries';
import type { Project } from './queries';

const ProjectContext = createContext<Project | null>(null);

/** Project that the open page belongs to. */
export function useProject(): Project {
  const project = use(ProjectContext);
  if (!project) throw new Error('this page belongs to no project');
  return project;
}

/** Layout of all pages of one project. */
export function ProjectLayout(): ReactNode {
  const owner = useOwner();
  const { project: id } = projectRoute.useParams();
  const projects = useQuery(projectsQuery(owner.id));
  return (
    <Loaded query={projects}>
      {(list) => {
        const project = list.find((one) => String(one.id) === id);
        if (!project) return <Missing>This project does not exist. It may have been deleted.</Missing>;
        return (
          <ProjectContext value={project}>
            <Outlet />
          </ProjectContext>
        );
      }}
    </Loaded>
  );
}
