import { Alert, Text } from '@mantine/core';
import { IconAlertTriangle, IconDatabaseOff } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { LoadedDocument } from '../documents/queries';
import { explainRejection } from '../rescue/explain-rejection';
import { RequestId } from '../rescue/request-id';
import { RescueActions } from '../rescue/rescue-actions';
import { isRejection } from '../saving/save-state';
import type { SaveState } from '../saving/save-state';
import type { DocumentSaver } from '../saving/saver';
import { useIsStorageFailing } from '../saving/use-saver';

interface Props {
  readonly document: LoadedDocument;
  readonly saver: DocumentSaver;
  readonly state: SaveState;
}

/** Explains why the text is not safe, and what the person can do with it. */
export function SavingProblems({ document, saver, state }: Props): ReactNode {
  const isStorageFailing = useIsStorageFailing();
  return (
    <>
      {isStorageFailing && (
        <Alert variant="default" role="alert" icon={<IconDatabaseOff size={18} aria-hidden />} p="xs">
          <Text size="sm">
            This browser keeps no drafts, because its storage is full or not available. Do not close the page
            before the text is saved.
          </Text>
        </Alert>
      )}
      {isRejection(state.error) && (
        <Alert
          variant="default"
          role="alert"
          title={explainRejection(state.error)}
          icon={<IconAlertTriangle size={18} aria-hidden />}
        >
          <Text size="sm" mb="xs">
            The service does not accept the text. Copy or download it, or save it as a new document.
          </Text>
          <RequestId error={state.error} />
          <RescueActions
            title={document.title}
            slug={document.slug}
            text={() => saver.content}
            onRescued={() => saver.discard()}
          />
        </Alert>
      )}
    </>
  );
}
