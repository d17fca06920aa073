import { Alert, Button, FileButton, Group, Stack, Text } from '@mantine/core';
import { IconFileText, IconFileZip, IconFolder } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { ReactNode } from 'react';
import type { RawFile } from './archive/archive';
import { filesOfInput, readFiles } from './read-files';
import type { FileSource } from './read-files';

interface Props {
  readonly dropped?: FileSource;
  readonly onRead: (files: readonly RawFile[]) => void;
}

/** Lets the person choose files, a folder or an archive, and reads them. */
export function ChooseStep({ dropped, onRead }: Props): ReactNode {
  const read = useMutation({ mutationFn: readFiles, onSuccess: onRead, meta: { isShownInForm: true } });
  const { mutate } = read;
  useEffect(() => {
    if (dropped) mutate(dropped);
  }, [dropped, mutate]);
  return (
    <Stack>
      <Text size="sm">
        Import <code>.md</code>, <code>.markdown</code> and <code>.txt</code> files, a folder such as an
        Obsidian vault, or one zip archive. You can also drop them anywhere on this page.
      </Text>
      {read.isError && (
        <Alert color="red" role="alert" title="The files cannot be imported">
          {read.error.message}. Nothing was imported.
        </Alert>
      )}
      <Choices isReading={read.isPending} onChoose={mutate} />
    </Stack>
  );
}

interface ChoicesProps {
  readonly isReading: boolean;
  readonly onChoose: (files: FileSource) => void;
}

function Choices({ isReading, onChoose }: ChoicesProps): ReactNode {
  const folder = useRef<HTMLInputElement>(null);
  const readOne = (file: File | null) => file && onChoose(filesOfInput([file]));
  const readMany = (files: File[]) => files.length > 0 && onChoose(filesOfInput(files));
  return (
    <Group>
      <FileButton
        multiple
        accept=".md,.markdown,.txt"
        onChange={readMany}
        inputProps={{ 'aria-label': 'Files' }}
      >
        {(props) => (
          <Button {...props} loading={isReading} leftSection={<IconFileText size={16} aria-hidden />}>
            Choose files
          </Button>
        )}
      </FileButton>
      <Button
        variant="default"
        leftSection={<IconFolder size={16} aria-hidden />}
        onClick={() => folder.current?.click()}
      >
        Choose a folder
      </Button>
      <FileButton accept=".zip" onChange={readOne} inputProps={{ 'aria-label': 'Archive' }}>
        {(props) => (
          <Button {...props} variant="default" leftSection={<IconFileZip size={16} aria-hidden />}>
            Choose a zip archive
          </Button>
        )}
      </FileButton>
      <input
        ref={folder}
        type="file"
        hidden
        aria-label="Folder"
        {...{ webkitdirectory: '' }}
        onChange={(event) => event.currentTarget.files && onChoose(filesOfInput(event.currentTarget.files))}
      />
    </Group>
  );
}
