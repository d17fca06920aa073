import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sessionFor } from '../../support/sessions.js';

export const PASSWORD = 'correct horse';
export const ANON_KEY = 'anon-key-of-the-tests';

/** Supabase Auth as its wire protocol shows it: passwords, magic links, renewal. */
export interface FakeSupabase {
  readonly url: string;
  /** Addresses of requested magic links, with the page to return to. */
  readonly links: { readonly email: string; readonly redirectTo: string }[];
  /** Requests as `METHOD path`, with the grant type. */
  readonly requests: string[];
  /** Seconds for which the next sessions are valid. */
  lifetime: number;
  /** Fragment with which a magic link returns. */
  fragmentFor(email: string): Promise<string>;
  close(): Promise<void>;
}

export async function startFakeSupabase(): Promise<FakeSupabase> {
  const server = createServer((request, response) => void respond(fake, request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const fake: FakeSupabase = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/auth/v1`,
    links: [],
    requests: [],
    lifetime: 3_600,
    fragmentFor: async (email) =>
      new URLSearchParams({ ...(await sessionOf(fake, email)), type: 'magiclink' } as never).toString(),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return fake;
}

async function sessionOf({ lifetime }: FakeSupabase, email: string) {
  const [name] = email.split('@');
  const exp = Math.floor(Date.now() / 1_000) + lifetime;
  const session = {
    access_token: await sessionFor(name!, { exp }),
    token_type: 'bearer',
    expires_in: lifetime,
  };
  return { ...session, refresh_token: `refresh-${email}` };
}

async function respond(
  fake: FakeSupabase,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url!, fake.url);
  const cors = {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Allow-Headers': '*',
    'Access-Control-Allow-Methods': '*',
  };
  const send = (status: number, body: object) =>
    response.writeHead(status, { ...cors, 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  if (request.method === 'OPTIONS') return void response.writeHead(204, cors).end();
  const grant = searchParams.get('grant_type');
  fake.requests.push(`${request.method} ${pathname}${grant ? ` ${grant}` : ''}`);
  if (request.headers.apikey !== ANON_KEY) return void send(401, { msg: 'No API key found' });
  const body = (await readJson(request)) as Record<string, string>;
  if (pathname.endsWith('/otp')) {
    fake.links.push({ email: body.email!, redirectTo: searchParams.get('redirect_to')! });
    return void send(200, {});
  }
  if (grant === 'password' && body.password !== PASSWORD)
    return void send(400, { code: 400, error_code: 'invalid_credentials', msg: 'Invalid login credentials' });
  const email =
    grant === 'password' ? body.email! : (body.refresh_token ?? bearerName(request)).replace('refresh-', '');
  const user = { id: email.split('@')[0], email, aud: 'authenticated', role: 'authenticated' };
  if (pathname.endsWith('/token')) return void send(200, { ...(await sessionOf(fake, email)), user });
  send(200, user); // GET /user, and POST /logout
}

/** Address in the session of a request. */
function bearerName({ headers }: IncomingMessage): string {
  const payload = headers.authorization?.split('.')[1] ?? '';
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString() || '{}') as { email?: string };
  return claims.email ?? '';
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString() || '{}');
}
