import { Button, Group } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconFolders, IconPlugConnected, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import type { ReactNode } from 'react';
import { useIsAdmin, useOwner } from '../organizations/owner';
import { ownerName } from '../organizations/queries';
import type { Organization } from '../organizations/queries';
import { projectsRoute } from '../routes';
import { upstreamsQuery } from '../upstreams/queries';
import { EmptyState } from '../ui/empty-state';
import { FilterInput } from '../ui/forms/filter-input';
import { useUrlText } from '../ui/forms/use-url-text';
import { Loaded } from '../ui/loaded';
import { PageHeader } from '../ui/page-header';
import { ProjectList } from './project-list';
import { projectsQuery } from './queries';
import type { Project } from './queries';

const ProjectModal = lazy(() => import('./project-modal'));

/** All projects of the organization. */
export function ProjectsPage(): ReactNode {
  const owner = useOwner();
  const isAdmin = useIsAdmin();
  const projects = useQuery(projectsQuery(owner.id));
  const [isCreating, { open, close }] = useDisclosure();
  const navigate = useNavigate();
  const openProject = ({ id }: Project) =>
    void navigate({
      to: '/o/$owner/projects/$project',
      params: { owner: String(owner.id), project: String(id) },
    });
  const isEmpty = projects.data?.length === 0;
  const button = isAdmin && (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
      New project
    </Button>
  );
  return (
    <>
      <PageHeader title="Projects" text={`Markdown documents of ${describeOwner(owner)}.`}>
        {!isEmpty && button}
      </PageHeader>
      <Loaded query={projects}>
        {(list) =>
          list.length > 0 ? (
            <FilteredProjects projects={list} />
          ) : (
            <EmptyState
              icon={IconFolders}
              title="No projects yet"
              text={
                isAdmin
                  ? 'A project holds markdown documents that link to each other: a handbook, notes, a specification.'
                  : 'A project holds markdown documents. An admin of the team can create the first one.'
              }
            >
              <Group justify="center">
                {button}
                {isAdmin && <ConnectProvider />}
              </Group>
            </EmptyState>
          )
        }
      </Loaded>
      <Suspense>
        {isCreating && <ProjectModal owner={owner.id} onClose={close} onSaved={openProject} />}
      </Suspense>
    </>
  );
}

/** First step for people who came for the proxy. It goes when the organization has an upstream. */
function ConnectProvider(): ReactNode {
  const { id } = useOwner();
  const { data: upstreams } = useQuery(upstreamsQuery(id));
  if (upstreams?.length !== 0) return null;
  return (
    <Button
      variant="default"
      leftSection={<IconPlugConnected size={16} aria-hidden />}
      renderRoot={(props) => (
        <Link to="/o/$owner/upstreams" params={{ owner: String(id) }} search={{ add: 'true' }} {...props} />
      )}
    >
      Connect a provider
    </Button>
  );
}

function describeOwner(owner: Organization): string {
  return owner.kind === 'personal' ? 'your own, which only you can see' : ownerName(owner);
}

function FilteredProjects({ projects }: { projects: readonly Project[] }): ReactNode {
  const { q = '' } = projectsRoute.useSearch();
  const navigate = useNavigate({ from: projectsRoute.fullPath });
  const [filter, setFilter] = useUrlText(
    q,
    (text) => void navigate({ search: text === '' ? {} : { q: text }, replace: true }),
  );
  const words = filter.toLowerCase();
  const shown = projects.filter(({ name, description }) =>
    `${name}\n${description}`.toLowerCase().includes(words),
  );
  return (
    <>
      <FilterInput label="Filter projects" value={filter} onChange={setFilter} />
      <ProjectList projects={shown} />
    </>
  );
}
