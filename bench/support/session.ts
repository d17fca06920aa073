import { createSecretKey } from 'node:crypto';
import { SignJWT } from 'jose';
import type { Workspace } from './workspace.js';

const SESSION_SECRET = 'a secret of at least thirty-two bytes for the benchmark';

/** Settings of a measured service. */
export function serviceSettings({ databaseUrl, dataDir }: Workspace): NodeJS.ProcessEnv {
  return {
    DATABASE_URL: databaseUrl,
    DATA_DIR: dataDir,
    SESSION_JWT_SECRET: SESSION_SECRET,
    ENCRYPTION_KEYS: Buffer.alloc(32, 1).toString('base64'),
  };
}

export async function newSession(user = 'bench'): Promise<string> {
  return new SignJWT({ sub: user, email: `${user}@example.com` })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setExpirationTime('1 day')
    .sign(createSecretKey(Buffer.from(SESSION_SECRET)));
}

/** Creates a resource below `/me`. @throws Error if the status is not 201 */
export function create(port: number, session: string, path: string, body: object): Promise<Response> {
  return send('POST', 201, { port, session, path }, body);
}

/** Replaces a resource below `/me`. @throws Error if the status is not 200 */
export function put(port: number, session: string, path: string, body: object): Promise<Response> {
  return send('PUT', 200, { port, session, path }, body);
}

async function send(
  method: string,
  status: number,
  { port, session, path }: { readonly port: number; readonly session: string; readonly path: string },
  body: object,
): Promise<Response> {
  const response = await fetch(`http://127.0.0.1:${port}/me/${path}`, {
    method,
    headers: { Authorization: `Bearer ${session}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (response.status === status) return response;
  throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
}
