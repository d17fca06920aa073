import { queryOptions } from '@tanstack/react-query';
import { ApiError, UnreachableError } from '../api/errors';

/** Public settings of the service. */
export interface DashboardConfig {
  readonly version: string;
  readonly public_url: string;
  readonly sign_in: SignIn;
}

type SignIn =
  | { readonly kind: 'development' }
  | { readonly kind: 'supabase'; readonly url: string; readonly anon_key?: string }
  | { readonly kind: 'redirect'; readonly url: string }
  | { readonly kind: 'none' };

/** Settings do not change while the page is open. */
export const configQuery = queryOptions({
  queryKey: ['config'],
  staleTime: Infinity,
  queryFn: async (): Promise<DashboardConfig> => {
    const response = await fetch('/dashboard/config.json').catch(() => {
      throw new UnreachableError();
    });
    if (!response.ok) throw await ApiError.from(response);
    return (await response.json()) as DashboardConfig;
  },
});
