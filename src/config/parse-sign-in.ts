import type { Environment } from './environment.js';
import type { Settings, SignIn } from './settings.js';

/** Page of the dashboard that signs people in. */
const DASHBOARD_PAGE = '/sign-in';
const DEVELOPMENT_PAGE = '/dev/sign-in';

/** Settings that depend on how people sign in, and whether there is a dashboard. */
export function parseSignIn(
  env: Environment,
  publicUrl: string,
  developmentSignIn: boolean,
): Pick<Settings, 'dashboard' | 'signInUrl'> {
  const named = env.webUrl('SIGN_IN_URL')?.href;
  const pages = { dashboard: publicUrl + DASHBOARD_PAGE, development: publicUrl + DEVELOPMENT_PAGE };
  const signIn = chooseSignIn(
    env,
    Object.values(pages).includes(named ?? '') ? undefined : named,
    developmentSignIn,
  );
  if (env.choice('DASHBOARD') === 'off')
    return { signInUrl: named ?? (developmentSignIn ? pages.development : undefined) };
  return {
    dashboard: { signIn },
    signInUrl: named ?? (signIn.kind === 'none' ? undefined : pages.dashboard),
  };
}

/** @param otherPage sign-in page that is neither the dashboard's nor that of the development sign-in */
function chooseSignIn(env: Environment, otherPage: string | undefined, developmentSignIn: boolean): SignIn {
  const supabase = parseSupabase(env);
  if (otherPage !== undefined) return { kind: 'redirect', url: otherPage };
  return supabase ?? { kind: developmentSignIn ? 'development' : 'none' };
}

function parseSupabase(env: Environment): SignIn | undefined {
  const url = env.baseUrl('SUPABASE_AUTH_URL');
  const anonKey = env.text('SUPABASE_ANON_KEY');
  if (anonKey !== undefined && !env.has('SUPABASE_AUTH_URL'))
    env.wrong('SUPABASE_ANON_KEY', 'is set, but SUPABASE_AUTH_URL is not');
  return url === undefined ? undefined : { kind: 'supabase', url, anonKey };
}
