import { Button, Group, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ApiError } from '../api/errors';
import { showFormError } from '../ui/form-error';
import { LimitFields } from './limit-fields';
import { fieldOf, toLimitSet, toValues } from './limit-values';
import type { LimitValues } from './limit-values';
import type { LimitSet } from './queries';

interface Props {
  readonly limits: LimitSet;
  readonly isReadOnly: boolean;
  readonly onSave: (limits: LimitSet) => Promise<void>;
  /** Closes the dialog that the form is in. */
  readonly onCancel?: () => void;
}

/** Form for one limit set. */
export function LimitForm({ limits, isReadOnly, onSave, onCancel }: Props): ReactNode {
  const form = useForm<LimitValues>({ initialValues: toValues(limits) });
  const save = useMutation({
    mutationFn: (values: LimitValues) => onSave(toLimitSet(values)),
    onSuccess: (_, values) => form.resetDirty(values),
    onError: (error) => {
      const field = error instanceof ApiError ? fieldOf(error.message) : undefined;
      showFormError(form, error, field === undefined ? {} : { invalid_limits: field });
    },
    meta: { isShownInForm: true },
  });
  return (
    <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
      <Stack>
        <LimitFields form={form} isReadOnly={isReadOnly} />
        {!isReadOnly && (
          <Group justify={onCancel ? 'flex-end' : undefined}>
            {onCancel && (
              <Button variant="default" onClick={onCancel}>
                Cancel
              </Button>
            )}
            <Button type="submit" disabled={!form.isDirty()} loading={save.isPending}>
              Save
            </Button>
          </Group>
        )}
      </Stack>
    </form>
  );
}
