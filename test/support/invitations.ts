import type { TestDatabase } from './database.js';

/** As though 7 days had passed. The job that writes it down has not run. */
export async function expire({ query }: TestDatabase, ...ids: number[]): Promise<void> {
  await query(`UPDATE invitations SET expires_at = now() - interval '1 second' WHERE id = ANY($1)`, [ids]);
}

/** The status that is written down, which may be behind the one that is shown. */
export async function storedStatus({ query }: TestDatabase, id: number): Promise<string> {
  const [row] = await query<{ status: string }>('SELECT status FROM invitations WHERE id = $1', [id]);
  return row!.status;
}
