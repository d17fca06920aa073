import type { TestApp } from './app.js';

type Filled = Pick<TestApp, 'database'>;

/** Adds users by SQL: `crowd-<from>` and so on. */
export async function fillUsers({ database }: Filled, count: number): Promise<void> {
  await database.query(
    `INSERT INTO users (id, email, email_key)
     SELECT 'crowd-' || i, 'crowd-' || i || '@example.com', 'crowd-' || i || '@example.com'
     FROM generate_series(1, $1) AS i ON CONFLICT DO NOTHING`,
    [count],
  );
}

interface FilledKeys {
  readonly organizationId: number;
  /** `crowd`: one key for each of as many users. */
  readonly user: string;
  readonly count: number;
  /** The higher the number of a key, the later it was revoked or has expired. */
  readonly state?: 'live' | 'revoked' | 'expired';
}

/** Adds keys by SQL, named `<state> <number>`. */
export async function fillKeys({ database }: Filled, filled: FilledKeys): Promise<void> {
  const { organizationId, user, count, state = 'live' } = filled;
  await database.query(
    `INSERT INTO proxy_keys
       (organization_id, user_id, name, secret_sha256, prefix, last4, source, expires_at, revoked_at, revoked_reason)
     SELECT $1, CASE $2 WHEN 'crowd' THEN 'crowd-' || i ELSE $2 END, $4 || ' ' || i,
       sha256(gen_random_uuid()::text::bytea), 'mk_aaaa', 'zzzz', 'dashboard',
       CASE $4 WHEN 'expired' THEN now() - interval '1 day' + i * interval '1 ms' END,
       CASE $4 WHEN 'revoked' THEN now() - interval '1 day' + i * interval '1 ms' END,
       CASE $4 WHEN 'revoked' THEN 'revoked' END
     FROM generate_series(1, $3) AS i`,
    [organizationId, user, count, state],
  );
}

/** Adds projects by SQL. */
export async function fillProjects({ database }: Filled, owner: number, count: number): Promise<void> {
  await database.query(
    `INSERT INTO projects (organization_id, name, description)
     SELECT $1, 'filled ' || i, '' FROM generate_series(1, $2) AS i`,
    [owner, count],
  );
}

/** Adds documents by SQL, without bodies. */
export async function fillDocuments({ database }: Filled, project: number, count: number): Promise<void> {
  await database.query(
    `INSERT INTO documents (organization_id, project_id, title, slug, body_sha256, body_size)
     SELECT p.organization_id, p.id, 'filled', 'filled-' || i, '\\x', 0
     FROM projects p, generate_series(1, $2) AS i WHERE p.id = $1`,
    [project, count],
  );
}

/** Adds upstreams by SQL, with API keys that cannot be decrypted. */
export async function fillUpstreams({ database }: Filled, owner: number, count: number): Promise<void> {
  await database.query(
    `INSERT INTO upstreams
       (organization_id, name, base_url, provider, priority, enabled, api_key_encrypted, api_key_hint)
     SELECT $1, 'filled ' || i, 'https://1.1.1.1/v1', 'custom', 100, false, '\\x', 'last'
     FROM generate_series(1, $2) AS i`,
    [owner, count],
  );
}

/** Adds members by SQL. */
export async function fillMembers(app: Filled, team: number, count: number): Promise<void> {
  await fillUsers(app, count);
  await app.database.query(
    `INSERT INTO memberships (organization_id, user_id, role)
     SELECT $1, 'crowd-' || i, 'member' FROM generate_series(1, $2) AS i`,
    [team, count],
  );
}

/** Adds teams by SQL that a user founded and administers. */
export async function fillTeams({ database }: Filled, founder: string, count: number): Promise<void> {
  await database.query(
    `WITH teams AS (
       INSERT INTO organizations (kind, name, slug, founder_user_id)
       SELECT 'team', 'filled', $1 || '-team-' || i, $1 FROM generate_series(1, $2) AS i RETURNING id)
     INSERT INTO memberships (organization_id, user_id, role) SELECT id, $1, 'admin' FROM teams`,
    [founder, count],
  );
}

/** Adds invitations by SQL, to `<status>-<number>@example.com`. */
export async function fillInvitations(
  { database }: Filled,
  team: number,
  count: number,
  status = 'pending',
): Promise<void> {
  await database.query(
    `INSERT INTO invitations (organization_id, organization_name, organization_slug, email, email_key, role, status,
       token_sha256, invited_by_user_id, invited_by_email, email_delivery, expires_at)
     SELECT $1, 'Acme', 'acme', address, address, 'member', $3, sha256(gen_random_uuid()::text::bytea), 'ann',
       'ann@example.com', 'disabled', now() + interval '7 days'
     FROM generate_series(1, $2) AS i, LATERAL (SELECT $3 || '-' || i || '@example.com' AS address) AS a`,
    [team, count, status],
  );
}
