import { Modal } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { documentsQuery } from '../documents/queries';
import { contentsQuery } from '../links/contents';
import { useProject } from '../projects/project';
import { ErrorNotice } from '../ui/error-notice';
import { FormSkeleton } from '../ui/skeletons';
import type { RawFile } from './archive/archive';
import { ChooseStep } from './choose-step';
import type { ExistingDocument } from './comparison';
import { PlanStep } from './plan-step';
import type { ImportPlan } from './plan';
import type { FileSource } from './read-files';
import { UploadStep } from './upload-step';

interface Props {
  /** Files that were dropped on the page last. */
  readonly dropped?: FileSource;
  /** Called when documents are stored from now on, so that other files have to wait. */
  readonly onUpload: () => void;
  readonly onClose: () => void;
}

/** Imports files in three steps: choose, decide, store. Nothing is stored before the decision. */
export default function ImportModal({ dropped, onUpload, onClose }: Props): ReactNode {
  const [files, setFiles] = useState<readonly RawFile[]>();
  const [plan, setPlan] = useState<ImportPlan>();
  const [latest, setLatest] = useState(() => dropped);
  if (latest !== dropped) {
    setLatest(() => dropped);
    setFiles(undefined);
  }
  const start = (decided: ImportPlan) => {
    setPlan(decided);
    onUpload();
  };
  return (
    <Modal
      opened
      centered
      size="lg"
      title="Import documents"
      closeOnClickOutside={!plan}
      closeOnEscape={!plan}
      onClose={onClose}
    >
      {!files && <ChooseStep dropped={dropped} onRead={setFiles} />}
      {files && !plan && (
        <WithExisting>
          {(existing) => <PlanStep files={files} existing={existing} onPlan={start} onCancel={onClose} />}
        </WithExisting>
      )}
      {plan && <UploadStep plan={plan} onClose={onClose} />}
    </Modal>
  );
}

/** Loads the documents of the project, which an import must not overwrite unasked. */
function WithExisting({
  children,
}: {
  children: (existing: readonly ExistingDocument[]) => ReactNode;
}): ReactNode {
  const { organization_id: owner, id: project } = useProject();
  const documents = useQuery({ ...documentsQuery(owner, project), refetchOnMount: 'always' });
  const contents = useQuery({ ...contentsQuery(owner, project), refetchOnMount: 'always', staleTime: 0 });
  const failed = [documents, contents].find(({ isError }) => isError);
  if (failed) return <ErrorNotice error={failed.error} onRetry={() => void failed.refetch()} />;
  if (!documents.data || !contents.data || documents.isFetching || contents.isFetching)
    return <FormSkeleton />;
  const { bySlug } = contents.data;
  return children(
    documents.data.map(({ id, slug, title }) => ({ id, slug, title, content: bySlug.get(slug) ?? '' })),
  );
}
