import { notifications } from '@mantine/notifications';
import { ApiError, explainError, withRequestId } from '../../api/errors';

/** Part of Mantine's form that {@link showFormError} uses. */
interface Form {
  setFieldError(field: string, message: string): void;
}

/**
 * Shows a rejection at the field that caused it, and anything else as a notification.
 * @param fields field of each error type
 */
export function showFormError(form: Form, error: unknown, fields: Record<string, string>): void {
  const field = error instanceof ApiError && error.type !== undefined ? fields[error.type] : undefined;
  if (field === undefined) return showError(error);
  const { title, requestId } = explainError(error);
  form.setFieldError(field, withRequestId(title, requestId));
}

/** Shows an error as a notification, with the remedy and the request id. */
export function showError(error: unknown): void {
  const { title, advice, requestId } = explainError(error);
  notifications.show({ color: 'red', title, message: withRequestId(advice, requestId) });
}
