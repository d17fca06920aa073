import { notifications } from '@mantine/notifications';
import { MutationCache, QueryClient } from '@tanstack/react-query';
import { ApiError, explainError } from './errors';

const RETRIES = 2;
const SERVER_ERROR = 500;
/** Time for which a list is shown without asking again. */
const FRESH_MS = 5_000;

/** Shows a failed change, unless the form that caused it does. */
const mutationCache = new MutationCache({
  onError(error, _variables, _result, mutation) {
    if (mutation.meta?.isShownInForm) return;
    const { title, advice, requestId } = explainError(error);
    notifications.show({
      color: 'red',
      title,
      message: requestId ? `${advice} (request ${requestId})` : advice,
    });
  },
});

export const queryClient = new QueryClient({
  mutationCache,
  defaultOptions: {
    queries: {
      staleTime: FRESH_MS,
      networkMode: 'always',
      retry: (count, error) => count < RETRIES && !(error instanceof ApiError && error.status < SERVER_ERROR),
    },
    mutations: { networkMode: 'always' },
  },
});
