import { Code, Text, TextInput, Title } from '@mantine/core';
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { DocumentSaver } from '../../saving/saver';

interface Props {
  readonly slug: string;
  readonly saver: DocumentSaver;
  readonly isReadOnly: boolean;
}

/** Title of the document, which is edited in place and saved together with the text, and its slug. */
export function TitleField({ slug, saver, isReadOnly }: Props): ReactNode {
  /** Text of the field while it has the focus, with spaces at its ends. */
  const [typed, setTyped] = useState<string>();
  const change = (title: string) => {
    setTyped(title);
    saver.editTitle(title);
  };
  return (
    <div className="title-field">
      {isReadOnly ? (
        <Title order={1}>{saver.title}</Title>
      ) : (
        <>
          <h1 className="visually-hidden">{saver.title}</h1>
          <TextInput
            variant="unstyled"
            aria-label="Title"
            classNames={{ input: 'title-input' }}
            value={typed ?? saver.title}
            maxLength={255}
            onChange={(event) => change(event.currentTarget.value)}
            onBlur={() => setTyped(undefined)}
            onKeyDown={(event) => event.key === 'Enter' && void saver.saveNow()}
          />
        </>
      )}
      <Text size="sm" c="dimmed" className="truncate">
        <Code>{slug}</Code>
      </Text>
    </div>
  );
}
