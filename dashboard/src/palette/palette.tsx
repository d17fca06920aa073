import '@mantine/spotlight/styles.css';
import { createSpotlight, Spotlight } from '@mantine/spotlight';
import { IconFileText, IconFolder, IconListSearch, IconSearch } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { useCurrentOwner } from '../shell/current-owner';
import { usePaletteEntries } from './entries';

interface Props {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

const [store, spotlight] = createSpotlight();

/** Opens projects and documents by name, and searches the open project. */
export default function Palette({ isOpen, onClose }: Props): ReactNode {
  const owner = useCurrentOwner();
  const [query, setQuery] = useState('');
  useEffect(() => {
    if (isOpen) spotlight.open();
    else spotlight.close();
  }, [isOpen]);
  return (
    <Spotlight.Root
      store={store}
      query={query}
      onQueryChange={setQuery}
      onSpotlightClose={onClose}
      shortcut={null}
      scrollable
      maxHeight="60vh"
      clearQueryOnClose
      attributes={{ content: { 'aria-label': 'Search' } }}
    >
      <Spotlight.Search
        placeholder="Open a project or document"
        leftSection={<IconSearch size={18} aria-hidden />}
      />
      {owner && <Results owner={owner.id} query={query} isOpen={isOpen} />}
    </Spotlight.Root>
  );
}

function Results({ owner, query, isOpen }: { owner: number; query: string; isOpen: boolean }): ReactNode {
  const { projects, documents, hits, openProject, isLoading } = usePaletteEntries(owner, query, isOpen);
  const { openProjectPage, openDocument } = useOpen(owner);
  const isEmpty = projects.length + documents.length + hits.length === 0;
  return (
    <Spotlight.ActionsList>
      {isEmpty && <Spotlight.Empty>{isLoading ? 'Loading…' : 'Nothing found'}</Spotlight.Empty>}
      {documents.length > 0 && (
        <Spotlight.ActionsGroup label="Documents">
          {documents.map(({ id, project_id: project, title, projectName }) => (
            <Spotlight.Action
              key={id}
              label={title}
              description={projectName}
              leftSection={<IconFileText size={18} aria-hidden />}
              onClick={() => openDocument(project, id)}
            />
          ))}
        </Spotlight.ActionsGroup>
      )}
      {hits.length > 0 && openProject !== undefined && (
        <Spotlight.ActionsGroup label="In this project">
          {hits.map(({ id, title, excerpt }) => (
            <Spotlight.Action
              key={id}
              label={title}
              description={excerpt}
              leftSection={<IconListSearch size={18} aria-hidden />}
              onClick={() => openDocument(openProject, id)}
            />
          ))}
        </Spotlight.ActionsGroup>
      )}
      {projects.length > 0 && (
        <Spotlight.ActionsGroup label="Projects">
          {projects.map(({ id, name, description }) => (
            <Spotlight.Action
              key={id}
              label={name}
              description={description}
              leftSection={<IconFolder size={18} aria-hidden />}
              onClick={() => openProjectPage(id)}
            />
          ))}
        </Spotlight.ActionsGroup>
      )}
    </Spotlight.ActionsList>
  );
}

function useOpen(owner: number) {
  const navigate = useNavigate();
  return {
    openProjectPage: (project: number) =>
      void navigate({
        to: '/o/$owner/projects/$project',
        params: { owner: String(owner), project: String(project) },
      }),
    openDocument: (project: number, document: number) =>
      void navigate({
        to: '/o/$owner/projects/$project/documents/$document',
        params: { owner: String(owner), project: String(project), document: String(document) },
      }),
  };
}
