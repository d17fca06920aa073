import { Modal, Stack, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { ErrorNotice } from '../error-notice';
import { FormButtons } from './form-buttons';

interface Props {
  readonly title: string;
  /** Names what is affected. */
  readonly children: ReactNode;
  readonly confirmLabel: string;
  /** Text that has to be typed first. */
  readonly typed?: string;
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
}

/** Asks once before a destructive action, and closes when the action succeeded. */
export function ConfirmModal({ title, children, confirmLabel, typed, onConfirm, onClose }: Props): ReactNode {
  const [text, setText] = useState('');
  const action = useMutation({ mutationFn: onConfirm, onSuccess: onClose, meta: { isShownInForm: true } });
  const isAllowed = typed === undefined || text === typed;
  const submit = () => isAllowed && action.mutate();
  return (
    <Modal opened centered title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Stack>
          <div>{children}</div>
          {typed !== undefined && (
            <TextInput
              label={`Type “${typed}” to confirm`}
              value={text}
              autoComplete="off"
              data-autofocus
              onChange={(event) => setText(event.currentTarget.value)}
            />
          )}
          {action.isError && <ErrorNotice error={action.error} />}
          <FormButtons
            color="red"
            label={confirmLabel}
            isDisabled={!isAllowed}
            isPending={action.isPending}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </Modal>
  );
}
