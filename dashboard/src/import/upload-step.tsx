import { Alert, Button, Group, Progress as ProgressBar, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { createDocument, documentsQuery, loadDocument, updateDocument } from '../documents/queries';
import { contentsQuery } from '../links/contents';
import { useProject } from '../projects/project';
import type { ImportPlan } from './plan';
import { SkippedList } from './plan-step';
import { upload } from './upload';
import type { Progress, Store, UploadResult } from './upload';

const PERCENT = 100;

/** Stores the documents with progress and a way to cancel. */
export function UploadStep({ plan, onClose }: { plan: ImportPlan; onClose: () => void }): ReactNode {
  const { progress, result, cancel } = useUpload(plan);
  if (result) return <Result result={result} onClose={onClose} />;
  return (
    <Stack>
      <Text role="status">
        {progress.done} of {progress.total} documents stored
      </Text>
      <ProgressBar
        aria-label="Progress"
        value={((progress.done + progress.failed.length) / Math.max(1, progress.total)) * PERCENT}
      />
      <Group justify="flex-end">
        <Button variant="default" onClick={cancel}>
          Cancel
        </Button>
      </Group>
    </Stack>
  );
}

/** Starts the upload once. Leaving the page cancels it after the documents that were begun. */
function useUpload(plan: ImportPlan) {
  const { organization_id: owner, id: project } = useProject();
  const queryClient = useQueryClient();
  const [controller] = useState(() => new AbortController());
  const [progress, setProgress] = useState<Progress>({ done: 0, total: plan.documents.length, failed: [] });
  const [result, setResult] = useState<UploadResult>();
  useEffect(() => {
    const run = new AbortController();
    controller.signal.addEventListener('abort', () => run.abort());
    void upload(plan.documents, storeIn(owner, project), run.signal, setProgress).then(async (ended) => {
      await queryClient.invalidateQueries({ queryKey: documentsQuery(owner, project).queryKey });
      await queryClient.invalidateQueries({ queryKey: contentsQuery(owner, project).queryKey });
      setResult(ended);
    });
    return () => run.abort();
  }, [plan, owner, project, controller, queryClient]);
  return { progress, result, cancel: () => controller.abort() };
}

/** Stores documents of a project, each by one request. */
function storeIn(owner: number, project: number): Store {
  return async ({ title, slug, content, replaces }) => {
    if (replaces === undefined) return createDocument(owner, project, { title, slug, content });
    const address = { owner, project, document: replaces };
    const { etag } = await loadDocument(address);
    return updateDocument(address, { title, content }, etag);
  };
}

function Result({ result, onClose }: { result: UploadResult; onClose: () => void }): ReactNode {
  const { done, total, failed, isCancelled } = result;
  return (
    <Stack>
      <Alert
        color={failed.length > 0 || isCancelled ? 'yellow' : 'mint'}
        role="status"
        title={isCancelled ? 'Cancelled' : 'Import finished'}
      >
        {done} of {total} documents were stored.
        {done < total && ' Import the same files again to go on with the others.'}
      </Alert>
      {failed.length > 0 && <SkippedList skipped={failed} label="Failed files" />}
      <Group justify="flex-end">
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  );
}
