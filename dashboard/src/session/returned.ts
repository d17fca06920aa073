import { queryClient } from '../api/query-client';
import { configQuery } from './config';
import type { ReturnedSignIn } from './redirect';
import { sessions, SUPABASE_KEY } from './store';

/** Starts the session that came with the URL. Supabase's client renews it from then on. */
export async function adoptReturnedSignIn({ session, refreshToken }: ReturnedSignIn): Promise<void> {
  sessions.signIn(session);
  const config = await queryClient.fetchQuery(configQuery).catch(() => undefined);
  if (config?.sign_in.kind !== 'supabase' || refreshToken === null) return;
  const { adoptSession } = await import('./supabase');
  await adoptSession(config.sign_in, session.token, refreshToken).catch(() => undefined);
}

/** Whether {@link restoreSupabaseSession} can continue a session that has expired. */
export function canRestoreSession(): boolean {
  return sessions.snapshot().status === 'signed-out' && sessionStorage.getItem(SUPABASE_KEY) !== null;
}

/** Continues the session of Supabase that this tab had before it was loaded again. */
export async function restoreSupabaseSession(): Promise<void> {
  const config = await queryClient.fetchQuery(configQuery).catch(() => undefined);
  if (config?.sign_in.kind !== 'supabase') return;
  const { restoreSession } = await import('./supabase');
  await restoreSession(config.sign_in).catch(() => undefined);
}

/** Starts Supabase's client if the session is one of Supabase, so that it is renewed. */
export async function renewSupabaseSession(): Promise<void> {
  if (sessions.snapshot().status === 'signed-out') return;
  const config = await queryClient.fetchQuery(configQuery).catch(() => undefined);
  if (config?.sign_in.kind !== 'supabase') return;
  const { connectSupabase } = await import('./supabase');
  connectSupabase(config.sign_in);
}

/** Ends the session in this tab, and at Supabase if it came from there. */
export async function signOut(): Promise<void> {
  const config = queryClient.getQueryData(configQuery.queryKey);
  if (config?.sign_in.kind === 'supabase') {
    const { signOutOfSupabase } = await import('./supabase');
    await signOutOfSupabase(config.sign_in).catch(() => undefined);
  }
  sessions.signOut();
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'config' });
}
