import { MutationCache, QueryClient } from '@tanstack/react-query';
import { showError } from '../ui/forms/form-error';
import { ApiError } from './errors';
import { SERVER_ERROR } from './statuses';

const RETRIES = 2;
/** Age up to which a list is shown without a reload. */
const FRESH_MS = 5_000;

/** Shows a failed change, unless the form that caused it does. */
const mutationCache = new MutationCache({
  onError(error, _variables, _result, mutation) {
    if (!mutation.meta?.isShownInForm) showError(error);
  },
});

/** Cache of all responses of the service. Failed queries are retried, except after a rejection (4xx). */
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
