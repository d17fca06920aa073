import { SERVER_ERROR } from './statuses';

/** Error body of every route. Those of the proxy have a code, and a type for the libraries of providers. */
interface ErrorBody {
  readonly error?: { readonly type?: string; readonly code?: string; readonly message?: string };
}

/** Response of the service with an error status. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    readonly status: number,
    readonly type: string | undefined,
    message: string,
    readonly requestId: string | null,
  ) {
    super(message);
  }

  /** @param response its body must not be read yet */
  static async from(response: Response): Promise<ApiError> {
    const body = (await response.json().catch(() => ({}))) as ErrorBody;
    const message = body.error?.message ?? `the service responded with status ${response.status}`;
    const type = body.error?.code ?? body.error?.type;
    return new ApiError(response.status, type, message, response.headers.get('X-Request-Id'));
  }
}

/** The request got no response. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
}

/** Someone else changed the object after the form had read it. Nothing was stored. */
export class ChangedMeanwhileError extends Error {
  override readonly name = 'ChangedMeanwhileError';
}

/** Error in words for people: cause, remedy and request id. */
interface ErrorText {
  readonly title: string;
  readonly advice: string;
  readonly requestId?: string | null;
}

const CLIENT_ERROR = 400;

/** Remedies by error type, which say more than the status does. */
const ADVICE_BY_TYPE: Record<string, string> = {
  model_not_allowed: 'Choose another model, or ask an admin of the team to allow this one.',
  budget_exceeded: 'Wait for the next period of the budget, or ask an admin of the team to raise it.',
};

/** Remedies by status. The message of the service is the title. */
const ADVICE: Record<number, string> = {
  401: 'Sign in again to go on.',
  403: 'Ask an admin of the team to do this, or to change your role.',
  404: 'It may have been deleted, or you are no longer a member of the team.',
  409: 'Change the value and try again.',
  412: 'Someone else changed it. Reload to see the current version.',
  429: 'Wait a moment and try again.',
};

/** Explains an error of a request. */
export function explainError(error: unknown): ErrorText {
  if (error instanceof UnreachableError)
    return { title: 'The service cannot be reached', advice: 'Check your connection, then try again.' };
  if (error instanceof ChangedMeanwhileError)
    return {
      title: 'Someone else changed this meanwhile',
      advice: 'Nothing was saved. You see the current values now: enter yours again.',
    };
  if (!(error instanceof ApiError))
    return { title: 'Something went wrong', advice: 'Reload the page and try again.' };
  const { status, requestId } = error;
  const advice = ADVICE_BY_TYPE[error.type ?? ''] ?? ADVICE[status] ?? generalAdvice(status);
  return { title: sentence(error.message), advice, requestId };
}

/** Appends the id of the request that failed, for the operator of the service, if there is one. */
export function withRequestId(text: string, requestId: ErrorText['requestId']): string {
  return requestId ? `${text} (request ${requestId})` : text;
}

/** @param status 0 if the response began, but was interrupted */
function generalAdvice(status: number): string {
  if (status >= SERVER_ERROR) return 'Try again. If it happens again, tell the operator the request id.';
  return status >= CLIENT_ERROR ? 'Check your input, then try again.' : 'Try again.';
}

/** Writes a message of the service with a capital letter. */
function sentence(message: string): string {
  return message.charAt(0).toUpperCase() + message.slice(1);
}

/** Whether the error is a response with this type, or with this status. */
export function isApiError(error: unknown, what: string | number): error is ApiError {
  return error instanceof ApiError && (typeof what === 'number' ? error.status : error.type) === what;
}
