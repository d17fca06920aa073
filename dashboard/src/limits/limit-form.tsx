import { Button, Group, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { ApiError } from '../api/errors';
import { showFormError } from '../ui/forms/form-error';
import { LimitFields } from './limit-fields';
import { fieldOf, toLimitSet, toValues } from './limit-values';
import type { LimitValues } from './limit-values';
import { LimitsChangedError } from './queries';
import type { LimitChange, LimitSet } from './queries';

interface Props {
  readonly limits: LimitSet;
  readonly isReadOnly: boolean;
  /** Returns the stored set. @throws LimitsChangedError */
  readonly onSave: (change: LimitChange) => Promise<LimitSet>;
  /** Closes the dialog that the form is in. */
  readonly onCancel?: () => void;
}

/** Form for one limit set. It shows the current values if someone else changed the set meanwhile. */
export function LimitForm({ limits, isReadOnly, onSave, onCancel }: Props): ReactNode {
  const [seen, setSeen] = useState(limits);
  const form = useForm<LimitValues>({ initialValues: toValues(limits) });
  const showCurrent = (current: LimitSet): void => {
    setSeen(current);
    form.setInitialValues(toValues(current));
    form.setValues(toValues(current));
  };
  const save = useMutation({
    mutationFn: (values: LimitValues) => onSave({ seen, changed: toLimitSet(values) }),
    onSuccess: (stored, values) => {
      notifications.show({ message: 'The limits were saved. They apply within 5 seconds.' });
      setSeen(stored);
      form.resetDirty(values);
    },
    onError: (error) => {
      if (error instanceof LimitsChangedError) showCurrent(error.current);
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
