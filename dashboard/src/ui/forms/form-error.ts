import { notifications } from '@mantine/notifications';
import { ApiError, explainError } from '../../api/errors';

/** Part of Mantine's form that {@link showFormError} uses. */
interface Form {
  setFieldError(field: string, message: string): void;
}

/**
 * Shows a rejection at the field that caused it, and anything else as a notification.
 * @param fields field of each error type
 */
export function showFormError(form: Form, error: unknown, fields: Record<string, string>): void {
  const { title, advice, requestId } = explainError(error);
  const field = error instanceof ApiError && error.type !== undefined ? fields[error.type] : undefined;
  if (field !== undefined) form.setFieldError(field, requestId ? `${title} (request ${requestId})` : title);
  else
    notifications.show({
      color: 'red',
      title,
      message: requestId ? `${advice} (request ${requestId})` : advice,
    });
}
