import { ActionIcon, Menu } from '@mantine/core';
import { IconDownload, IconTransfer, IconUnlink, IconUpload } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import type { ReactNode } from 'react';
import { DropArea } from '../import/drop-area';
import type { FileSource } from '../import/read-files';
import { useIsAdmin } from '../organizations/owner';
import { useProject } from '../projects/project';
import { downloadProject } from './download';

const ImportModal = lazy(() => import('../import/import-modal'));

const BrokenLinksModal = lazy(() => import('../links/broken-links-modal'));

/** Open import. */
interface Importing {
  readonly dropped?: FileSource;
  readonly isUploading?: boolean;
}

/** Import, export and links of a project. Files can be dropped anywhere while this menu is shown. */
export function TransferMenu(): ReactNode {
  const project = useProject();
  const isAdmin = useIsAdmin();
  const [importing, setImporting] = useState<Importing>();
  const [isCheckingLinks, setCheckingLinks] = useState(false);
  const download = useMutation({
    mutationFn: (hasFrontMatter: boolean) => downloadProject(project, hasFrontMatter),
  });
  return (
    <>
      <Menu position="bottom-end" shadow="md">
        <Menu.Target>
          <ActionIcon
            variant="default"
            size={36}
            loading={download.isPending}
            aria-label="Import, export and links"
          >
            <IconTransfer size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <TransferItems
          isAdmin={isAdmin}
          onImport={() => setImporting({})}
          onExport={download.mutate}
          onCheckLinks={() => setCheckingLinks(true)}
        />
      </Menu>
      {isAdmin && (
        <DropArea
          isDisabled={importing?.isUploading === true}
          onDrop={(dropped) => setImporting({ dropped })}
        />
      )}
      <Suspense>
        {importing && (
          <ImportModal
            dropped={importing.dropped}
            onUpload={() => setImporting({ ...importing, isUploading: true })}
            onClose={() => setImporting(undefined)}
          />
        )}
        {isCheckingLinks && <BrokenLinksModal onClose={() => setCheckingLinks(false)} />}
      </Suspense>
    </>
  );
}

interface ItemsProps {
  readonly isAdmin: boolean;
  readonly onImport: () => void;
  readonly onExport: (hasFrontMatter: boolean) => void;
  readonly onCheckLinks: () => void;
}

function TransferItems({ isAdmin, onImport, onExport, onCheckLinks }: ItemsProps): ReactNode {
  const downloadIcon = <IconDownload size={16} aria-hidden />;
  return (
    <Menu.Dropdown>
      {isAdmin && (
        <Menu.Item leftSection={<IconUpload size={16} aria-hidden />} onClick={onImport}>
          Import
        </Menu.Item>
      )}
      <Menu.Item leftSection={downloadIcon} onClick={() => onExport(false)}>
        Export all
      </Menu.Item>
      <Menu.Item leftSection={downloadIcon} onClick={() => onExport(true)}>
        Export with titles and times
      </Menu.Item>
      <Menu.Divider />
      <Menu.Item leftSection={<IconUnlink size={16} aria-hidden />} onClick={onCheckLinks}>
        Find broken links
      </Menu.Item>
    </Menu.Dropdown>
  );
}
