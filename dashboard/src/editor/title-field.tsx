import { Code, Text, TextInput, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { DocumentAddress, LoadedDocument } from '../documents/queries';
import type { DocumentSaver } from '../saving/saver';
import { changeDetails } from './change-details';

interface Props {
  readonly address: DocumentAddress;
  readonly document: LoadedDocument;
  readonly saver: DocumentSaver;
  readonly isReadOnly: boolean;
  readonly onChanged: (document: LoadedDocument) => void;
}

/** Title of the document, which is edited in place, and its slug. */
export function TitleField({ address, document, saver, isReadOnly, onChanged }: Props): ReactNode {
  const [title, setTitle] = useState(document.title);
  const rename = useMutation({
    mutationFn: (value: string) => changeDetails(saver, address, { title: value }),
    onSuccess: onChanged,
    onError: () => setTitle(document.title),
  });
  const commit = () => {
    const trimmed = title.trim();
    if (trimmed === '') setTitle(document.title);
    else if (trimmed !== document.title) rename.mutate(trimmed);
  };
  return (
    <div className="title-field">
      {isReadOnly ? (
        <Title order={1}>{document.title}</Title>
      ) : (
        <>
          <h1 className="visually-hidden">{document.title}</h1>
          <TextInput
            variant="unstyled"
            aria-label="Title"
            classNames={{ input: 'title-input' }}
            value={title}
            maxLength={255}
            onChange={(event) => setTitle(event.currentTarget.value)}
            onBlur={commit}
            onKeyDown={(event) => event.key === 'Enter' && event.currentTarget.blur()}
          />
        </>
      )}
      <Text size="sm" c="dimmed" className="truncate">
        <Code>{document.slug}</Code>
      </Text>
    </div>
  );
}
