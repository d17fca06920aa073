import { Button, Group } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { IconCopy, IconDownload, IconFilePlus } from '@tabler/icons-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { fileName, save } from '../documents/download';
import { SaveAsModal } from './save-as-modal';

interface Props {
  readonly title: string;
  readonly slug: string;
  /** Current text. */
  readonly text: () => string;
  /** Called when the text is in a new document. */
  readonly onRescued: () => void;
  readonly children?: ReactNode;
}

/** Ways to keep a text that cannot be saved in its document. */
export function RescueActions({ title, slug, text, onRescued, children }: Props): ReactNode {
  const [isSaving, setSaving] = useState(false);
  const download = () => save(new Blob([text()], { type: 'text/markdown' }), fileName(slug));
  return (
    <Group gap="xs">
      <CopyText text={text} />
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<IconDownload size={14} aria-hidden />}
        onClick={download}
      >
        Download
      </Button>
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<IconFilePlus size={14} aria-hidden />}
        onClick={() => setSaving(true)}
      >
        Save as a new document
      </Button>
      {children}
      {isSaving && <SaveAsModal {...{ title, slug, text, onRescued }} onClose={() => setSaving(false)} />}
    </Group>
  );
}

/** Reads the text on the click, because it can be long and changes while typing. */
function CopyText({ text }: Pick<Props, 'text'>): ReactNode {
  const { copied, copy, error } = useClipboard();
  return (
    <Button
      size="compact-sm"
      variant="default"
      leftSection={<IconCopy size={14} aria-hidden />}
      onClick={() => copy(text())}
    >
      {error ? 'Copying is blocked: use Download' : copied ? 'Copied' : 'Copy the text'}
    </Button>
  );
}
