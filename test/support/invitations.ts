import type { TestDatabase } from './database.js';

/** Lets invitations expire. The expiry job has not run yet. */
export async function expire({ query }: TestDatabase, ...ids: number[]): Promise<void> {
  await query(`UPDATE invitations SET expires_at = now() - interval '1 second' WHERE id = ANY($1)`, [ids]);
}

/** Reads the stored status, which may lag behind the status of responses. */
export async function storedStatus({ query }: TestDatabase, id: number): Promise<string> {
  const [row] = await query<{ status: string }>('SELECT status FROM invitations WHERE id = $1', [id]);
  return row!.status;
}

/** Moves the latest mail of every invitation one minute into the past. */
export async function passMinute({ query }: TestDatabase): Promise<void> {
  await query(`UPDATE invitation_mail_grants SET granted_at = granted_at - interval '1 minute'`);
}
