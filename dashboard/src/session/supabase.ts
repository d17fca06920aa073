import { AuthClient } from '@supabase/auth-js';
import { rememberMagicLinkRequest } from './redirect';
import { sessions, SUPABASE_KEY } from './store';
import { readSession } from './token';

/** Address and public key of Supabase Auth. */
export interface SupabaseSettings {
  readonly url: string;
  readonly anon_key?: string;
}

/** The package exports the class as a value only. */
type Client = InstanceType<typeof AuthClient>;

let client: Client | undefined;

/** Starts Supabase's client, which renews the session before it expires. */
export function connectSupabase({ url, anon_key: key }: SupabaseSettings): Client {
  client ??= createClient(url, key);
  return client;
}

function createClient(url: string, key: string | undefined): Client {
  const created = new AuthClient({
    url,
    headers: key === undefined ? {} : { apikey: key, Authorization: `Bearer ${key}` },
    storage: sessionStorage,
    storageKey: SUPABASE_KEY,
    flowType: 'implicit', // a magic link often opens in another browser, which lacks the secret of the other flow
    detectSessionInUrl: false,
  });
  created.onAuthStateChange((_event, supabaseSession) => {
    if (supabaseSession) follow(supabaseSession.access_token);
  });
  return created;
}

/**
 * Takes a new session over. Supabase's client reports those of other tabs, too: they replace an older session of the
 * same person, but never sign another person in.
 */
function follow(token: string): void {
  const session = readSession(token);
  const state = sessions.snapshot();
  if (!session || session.token === sessions.current()?.token) return;
  const isSamePerson = state.status !== 'signed-out' && state.session.userId === session.userId;
  if (isSamePerson) sessions.signIn(session);
}

/** Sends a mail with a link that signs in. @throws AuthError */
export async function sendMagicLink(
  settings: SupabaseSettings,
  email: string,
  returnTo: string,
): Promise<void> {
  const emailRedirectTo = `${window.location.origin}/sign-in?return_to=${encodeURIComponent(returnTo)}`;
  rememberMagicLinkRequest(email.toLowerCase());
  const { error } = await connectSupabase(settings).signInWithOtp({ email, options: { emailRedirectTo } });
  if (error) throw error;
}

/** @throws AuthError for a wrong password */
export async function signInWithPassword(
  settings: SupabaseSettings,
  email: string,
  password: string,
): Promise<void> {
  const { data, error } = await connectSupabase(settings).signInWithPassword({ email, password });
  if (error) throw error;
  start(data.session.access_token);
}

/** Continues the session of this tab after its access token has expired. Does nothing if there is none. */
export async function restoreSession(settings: SupabaseSettings): Promise<void> {
  const { data } = await connectSupabase(settings).getSession();
  if (data.session) start(data.session.access_token);
}

function start(token: string): void {
  const session = readSession(token);
  if (session && session.token !== sessions.current()?.token) sessions.signIn(session);
}

/** Continues a session that a magic link started. @throws AuthError */
export async function adoptSession(
  settings: SupabaseSettings,
  accessToken: string,
  refreshToken: string,
): Promise<void> {
  const tokens = { access_token: accessToken, refresh_token: refreshToken };
  const { error } = await connectSupabase(settings).setSession(tokens);
  if (error) throw error;
}

/** Ends the session at Supabase, too. The refresh token is removed from this tab even if Supabase does not respond. */
export async function signOutOfSupabase(settings: SupabaseSettings): Promise<void> {
  try {
    await connectSupabase(settings).signOut({ scope: 'local' });
  } finally {
    sessionStorage.removeItem(SUPABASE_KEY);
  }
}
