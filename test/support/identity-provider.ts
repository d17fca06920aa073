import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { CryptoKey, JWK, JWTPayload } from 'jose';

/** An identity provider as far as we see it: a server of public keys, and somebody who signs with the private ones. */
export interface IdentityProvider {
  readonly jwksUrl: string;
  /** Number of requests for the keys. */
  fetches(): number;
  /** Adds a key that tokens are signed with from now on. */
  addKey(algorithm: string): Promise<{ kid: string; publicJwk: JWK }>;
  /** Takes back the keys there are. */
  withdrawKeys(): void;
  /** A session signed by the newest key. */
  sign(sub: string, claims?: JWTPayload): Promise<string>;
  /** The same by the key of this number, from 0, without saying which it is. */
  signWithoutKid(sub: string, index: number): Promise<string>;
  /** Sets the behaviour of the server from now on. */
  behave(how: 'well' | 'error' | 'garbage' | 'hang' | 'offline'): Promise<void>;
  stop(): Promise<void>;
}

export async function startIdentityProvider(): Promise<IdentityProvider> {
  const keys: { algorithm: string; kid: string; privateKey: CryptoKey; publicJwk: JWK }[] = [];
  let fetches = 0;
  let behaviour = 'well';
  const server = createServer((_request, response) => {
    fetches++;
    if (behaviour === 'hang') return;
    if (behaviour === 'error') response.statusCode = 500;
    response.end(
      behaviour === 'garbage' ? '<html>' : JSON.stringify({ keys: keys.map((key) => key.publicJwk) }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  return {
    jwksUrl: `http://127.0.0.1:${port}/jwks.json`,
    fetches: () => fetches,
    addKey: async (algorithm) => {
      const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true });
      const kid = `key-${keys.length + 1}`;
      const publicJwk = { ...(await exportJWK(publicKey)), kid, alg: algorithm, use: 'sig' };
      keys.push({ algorithm, kid, privateKey, publicJwk });
      return { kid, publicJwk };
    },
    withdrawKeys: () => void keys.splice(0),
    sign: (sub, claims = {}) => {
      const { algorithm, kid, privateKey } = keys.at(-1)!;
      return sessionOf(sub, claims).setProtectedHeader({ alg: algorithm, kid }).sign(privateKey);
    },
    signWithoutKid: (sub, index) => {
      const { algorithm, privateKey } = keys[index]!;
      return sessionOf(sub).setProtectedHeader({ alg: algorithm }).sign(privateKey);
    },
    behave: async (how) => {
      if (how === 'offline') await close();
      else if (behaviour === 'offline')
        await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
      behaviour = how;
    },
    stop: async () => {
      if (server.listening) await close();
    },
  };
}

function sessionOf(sub: string, claims: JWTPayload = {}): SignJWT {
  const exp = Math.floor(Date.now() / 1_000) + 3_600;
  return new SignJWT({ sub, email: `${sub}@example.com`, exp, ...claims });
}
