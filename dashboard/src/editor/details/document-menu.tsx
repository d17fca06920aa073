import { ActionIcon, Menu } from '@mantine/core';
import { IconDots, IconDownload, IconLink, IconTrash } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { fileName, save } from '../../documents/download';
import type { DocumentAddress, LoadedDocument } from '../../documents/queries';
import { DeleteDocumentsModal } from '../../documents/selection-bar';
import { useIsAdmin } from '../../organizations/owner';
import type { DocumentSaver } from '../../saving/saver';
import { SlugModal } from './slug-modal';

interface Props {
  readonly address: DocumentAddress;
  readonly document: LoadedDocument;
  readonly saver: DocumentSaver;
  readonly onChanged: (document: LoadedDocument) => void;
}

/** Less frequent actions for a document. */
export function DocumentMenu({ address, document, saver, onChanged }: Props): ReactNode {
  const isAdmin = useIsAdmin();
  const [open, setOpen] = useState<'none' | 'slug' | 'delete'>('none');
  const close = () => setOpen('none');
  const navigate = useNavigate();
  const leave = () => {
    saver.discard();
    void navigate({
      to: '/o/$owner/projects/$project',
      params: { owner: String(address.owner), project: String(address.project) },
    });
  };
  const download = () => save(new Blob([saver.content], { type: 'text/markdown' }), fileName(document.slug));
  return (
    <>
      <Menu position="bottom-end" shadow="md">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label="Document actions">
            <IconDots size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconDownload size={16} aria-hidden />} onClick={download}>
            Download markdown
          </Menu.Item>
          {isAdmin && (
            <>
              <Menu.Item leftSection={<IconLink size={16} aria-hidden />} onClick={() => setOpen('slug')}>
                Change slug
              </Menu.Item>
              <Menu.Item
                color="red"
                leftSection={<IconTrash size={16} aria-hidden />}
                onClick={() => setOpen('delete')}
              >
                Delete document
              </Menu.Item>
            </>
          )}
        </Menu.Dropdown>
      </Menu>
      {open === 'slug' && <SlugModal {...{ address, document, saver, onChanged }} onClose={close} />}
      {open === 'delete' && <DeleteDocumentsModal documents={[document]} onClose={close} onDeleted={leave} />}
    </>
  );
}
