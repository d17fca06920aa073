import { Group, SegmentedControl } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import type { DocumentAddress, LoadedDocument } from '../documents/queries';
import { useIsAdmin } from '../organizations/owner';
import { useProject } from '../projects/project';
import { documentRoute } from '../routes';
import type { SaveState } from '../saving/save-state';
import type { DocumentSaver } from '../saving/saver';
import { Trail } from '../ui/trail';
import { DocumentMenu } from './details/document-menu';
import { SaveStatusText } from './save-status';
import { TitleField } from './details/title-field';
import type { ViewMode } from './view-mode';

interface Props {
  readonly address: DocumentAddress;
  readonly document: LoadedDocument;
  readonly saver: DocumentSaver;
  readonly state: SaveState;
  readonly mode: ViewMode;
  readonly isNarrow: boolean;
}

const MODES = [
  { value: 'edit', label: 'Edit' },
  { value: 'split', label: 'Split' },
  { value: 'preview', label: 'Preview' },
];

/** Title, slug, state of saving and view of a document. */
export function DocumentHeader({ address, document, saver, state, mode, isNarrow }: Props): ReactNode {
  const project = useProject();
  const isAdmin = useIsAdmin();
  const [loaded, setLoaded] = useState(document);
  const current = { ...loaded, title: saver.title };
  const navigate = useNavigate({ from: documentRoute.fullPath });
  useEffect(() => {
    window.document.title = `${current.title} · mintkeep`;
  }, [current.title]);
  const onChanged = (changed: LoadedDocument) => setLoaded(changed);
  return (
    <header className="document-header">
      <Trail owner={String(address.owner)} project={project} />
      <Group gap="sm" justify="space-between" wrap="wrap">
        <TitleField slug={current.slug} saver={saver} isReadOnly={!isAdmin} />
        <Group gap="sm" wrap="nowrap">
          {isAdmin && <SaveStatusText state={state} onRetry={() => void saver.saveNow()} />}
          <SegmentedControl
            size="xs"
            aria-label="View"
            data={isNarrow ? MODES.filter(({ value }) => value !== 'split') : MODES}
            value={mode}
            onChange={(view) => void navigate({ search: { view }, replace: true })}
          />
          <DocumentMenu address={address} document={current} saver={saver} onChanged={onChanged} />
        </Group>
      </Group>
    </header>
  );
}
