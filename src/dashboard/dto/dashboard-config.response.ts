import { ApiMember, oneOf, optional, text } from '../../common/api/members.js';
import type { DashboardSettings, SignIn } from '../../config/settings.js';

const KINDS = ['development', 'supabase', 'redirect', 'none'] as const;

/** The way in which the dashboard signs people in. */
export class DashboardSignInResponse {
  @ApiMember(oneOf(KINDS))
  kind: SignIn['kind'];

  @ApiMember(
    optional(text('https://auth.example.com/auth/v1')),
    'Base URL of Supabase Auth, or the sign-in page to which the dashboard redirects.',
  )
  url?: string;

  @ApiMember(optional(text('eyJhbGciOiJIUzI1NiJ9')), 'Public API key of Supabase Auth.')
  anon_key?: string;
}

/** Public settings. Contains no secrets. */
export class DashboardConfigResponse {
  @ApiMember(text('1.0.0'), 'Version of the service.')
  version: string;

  @ApiMember(text('https://mintkeep.example.com'), 'Base URL of the service.')
  public_url: string;

  @ApiMember({ type: () => DashboardSignInResponse })
  sign_in: DashboardSignInResponse;

  static from(version: string, publicUrl: string, { signIn }: DashboardSettings): DashboardConfigResponse {
    return { version, public_url: publicUrl, sign_in: present(signIn) };
  }
}

function present(signIn: SignIn): DashboardSignInResponse {
  if (signIn.kind !== 'supabase') return signIn;
  const { kind, url, anonKey } = signIn;
  return { kind, url, ...(anonKey !== undefined && { anon_key: anonKey }) };
}
