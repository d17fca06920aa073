import { ActionIcon, Menu } from '@mantine/core';
import { IconDownload, IconTransfer, IconUpload } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import type { ReactNode } from 'react';
import { DropArea } from '../import/drop-area';
import type { ChosenFile } from '../import/read-files';
import { useIsAdmin } from '../organizations/owner';
import { useProject } from '../projects/project';
import { downloadProject } from './download';

const ImportModal = lazy(() => import('../import/import-modal'));

/** Import and export of a project. Files can be dropped anywhere while this menu is shown. */
export function TransferMenu(): ReactNode {
  const project = useProject();
  const isAdmin = useIsAdmin();
  const [importing, setImporting] = useState<{ readonly dropped?: ChosenFile[] }>();
  const download = useMutation({
    mutationFn: (hasFrontMatter: boolean) => downloadProject(project, hasFrontMatter),
  });
  return (
    <>
      <Menu position="bottom-end" shadow="md">
        <Menu.Target>
          <ActionIcon variant="default" size={36} loading={download.isPending} aria-label="Import and export">
            <IconTransfer size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {isAdmin && (
            <Menu.Item leftSection={<IconUpload size={16} aria-hidden />} onClick={() => setImporting({})}>
              Import
            </Menu.Item>
          )}
          <Menu.Item
            leftSection={<IconDownload size={16} aria-hidden />}
            onClick={() => download.mutate(false)}
          >
            Export all
          </Menu.Item>
          <Menu.Item
            leftSection={<IconDownload size={16} aria-hidden />}
            onClick={() => download.mutate(true)}
          >
            Export with titles and times
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {isAdmin && !importing && <DropArea onDrop={(dropped) => setImporting({ dropped })} />}
      {importing && (
        <Suspense>
          <ImportModal dropped={importing.dropped} onClose={() => setImporting(undefined)} />
        </Suspense>
      )}
    </>
  );
}
