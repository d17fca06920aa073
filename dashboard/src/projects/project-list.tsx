import { ActionIcon, Group, Menu, Paper, Text } from '@mantine/core';
import { IconDots, IconPencil, IconTrash } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import type { ReactNode } from 'react';
import { useIsAdmin } from '../organizations/owner';
import { TimeAgo } from '../ui/time-ago';
import type { Project } from './queries';

const DeleteProjectModal = lazy(() => import('./delete-project-modal'));

const ProjectModal = lazy(() => import('./project-modal'));

type Change = 'none' | 'edit' | 'delete';

/** Projects as links, or a text if the filter leaves none. */
export function ProjectList({ projects }: { projects: readonly Project[] }): ReactNode {
  if (projects.length === 0)
    return (
      <Text c="dimmed" py="lg" ta="center">
        No project matches the filter.
      </Text>
    );
  return (
    <Paper withBorder radius="lg" className="list" component="ul">
      {projects.map((project) => (
        <ProjectRow key={project.id} project={project} />
      ))}
    </Paper>
  );
}

function ProjectRow({ project }: { project: Project }): ReactNode {
  const params = { owner: String(project.organization_id), project: String(project.id) };
  return (
    <li className="list-row">
      <Link to="/o/$owner/projects/$project" params={params} className="row-link">
        <Text fw={600} className="truncate">
          {project.name}
        </Text>
        <Text size="sm" c="dimmed" className="truncate">
          {project.description || 'No description'}
        </Text>
      </Link>
      <Group gap="xs" wrap="nowrap" className="row-side">
        <Text size="sm" c="dimmed" visibleFrom="xs">
          <TimeAgo time={project.updated_at} />
        </Text>
        <ProjectMenu project={project} />
      </Group>
    </li>
  );
}

/** Changes that only admins may make. */
export function ProjectMenu({ project, onDeleted }: { project: Project; onDeleted?: () => void }): ReactNode {
  const isAdmin = useIsAdmin();
  const [change, setChange] = useState<Change>('none');
  const close = () => setChange('none');
  if (!isAdmin) return null;
  return (
    <>
      <Menu position="bottom-end" shadow="md">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label={`Actions for ${project.name}`}>
            <IconDots size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconPencil size={16} aria-hidden />} onClick={() => setChange('edit')}>
            Edit name and description
          </Menu.Item>
          <Menu.Item
            color="red"
            leftSection={<IconTrash size={16} aria-hidden />}
            onClick={() => setChange('delete')}
          >
            Delete project
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Suspense>
        {change === 'edit' && (
          <ProjectModal owner={project.organization_id} project={project} onClose={close} />
        )}
        {change === 'delete' && (
          <DeleteProjectModal project={project} onClose={close} onDeleted={onDeleted} />
        )}
      </Suspense>
    </>
  );
}
