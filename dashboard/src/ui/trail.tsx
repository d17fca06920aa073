import { Anchor, Breadcrumbs } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

interface Props {
  readonly owner: string;
  /** Project above the page. */
  readonly project?: { readonly id: number; readonly name: string };
}

/** Path to the page, for going up. */
export function Trail({ owner, project }: Props): ReactNode {
  return (
    <Breadcrumbs component="nav" aria-label="Path" mb={6} separatorMargin={6}>
      <Anchor
        size="sm"
        c="dimmed"
        renderRoot={(props) => <Link to="/o/$owner/projects" params={{ owner }} {...props} />}
      >
        Projects
      </Anchor>
      {project && (
        <Anchor
          size="sm"
          c="dimmed"
          className="truncate"
          renderRoot={(props) => (
            <Link
              to="/o/$owner/projects/$project"
              params={{ owner, project: String(project.id) }}
              {...props}
            />
          )}
        >
          {project.name}
        </Anchor>
      )}
    </Breadcrumbs>
  );
}
