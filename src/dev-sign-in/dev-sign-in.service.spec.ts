import { createSecretKey } from 'node:crypto';
import { jwtVerify } from 'jose';
import type { SessionSettings, Settings } from '../config/settings.js';
import { DevSignInService } from './dev-sign-in.service.js';

const SECRET = Buffer.alloc(32, 's');

function serviceWith(session: Partial<SessionSettings> = {}): DevSignInService {
  return new DevSignInService({
    publicUrl: 'http://localhost:3000',
    dashboardUrl: 'https://app.example.com',
    session: { hs256Secret: SECRET, cookieName: 'mintkeep_session', requireEmailVerified: false, ...session },
  } as Settings);
}

async function verify(token: string) {
  return jwtVerify(token, createSecretKey(SECRET), { algorithms: ['HS256'] });
}

describe('createSession', () => {
  it('names the user, and is valid for 30 days', async () => {
    const { payload } = await verify(await serviceWith().createSession('Ada@Example.com'));
    expect(payload).toEqual({
      sub: 'dev_b5fc85e55755f9e0d030a10a', // printf ada@example.com | sha256sum | cut -c1-24
      email: 'Ada@Example.com',
      iat: expect.any(Number),
      exp: payload.iat! + 30 * 24 * 60 * 60,
    });
  });

  it('names issuer and audience if they are configured', async () => {
    const service = serviceWith({ issuer: 'https://id.example.com', audience: 'mintkeep' });
    const { payload } = await verify(await service.createSession('ada@example.com'));
    expect(payload).toMatchObject({ iss: 'https://id.example.com', aud: 'mintkeep' });
  });

  it('marks the address as verified if that is required', async () => {
    const service = serviceWith({ requireEmailVerified: true });
    const { payload } = await verify(await service.createSession('ada@example.com'));
    expect(payload).toMatchObject({ email_verified: true });
  });

  it('gives one user per address, independent of its spelling', async () => {
    const subjectOf = async (email: string) =>
      (await verify(await serviceWith().createSession(email))).payload.sub;
    expect(await subjectOf('ADA@example.com')).toBe(await subjectOf('ada@example.com'));
    expect(await subjectOf('bob@example.com')).not.toBe(await subjectOf('ada@example.com'));
  });
});

describe('resolveReturnTo', () => {
  it.each([
    ['/', '/'],
    ['/auth/device?user_code=ABCD-EFGH#x', '/auth/device?user_code=ABCD-EFGH#x'],
    ['/a?to=//evil.example', '/a?to=//evil.example'],
    ['http://localhost:3000', 'http://localhost:3000/'],
    ['HTTPS://APP.example.com/join?token=x', 'https://app.example.com/join?token=x'],
  ])('accepts %s', (target, location) => {
    expect(serviceWith().resolveReturnTo(target)).toBe(location);
  });

  it.each([
    ['nothing', null],
    ['an empty string', ''],
    ['a path without a leading slash', 'auth/device'],
    ['another host', '//evil.example'],
    ['the own host without a scheme', '//localhost:3000/x'],
    ['another host for browsers', '/\\evil.example'],
    ['another host after browsers drop the tab', '/\t/evil.example'],
    ['another host after browsers drop the line feed', '/\n/evil.example'],
    ['backslashes', '\\\\evil.example'],
    ['another origin', 'https://evil.example'],
    ['another port', 'http://localhost:3001/'],
    ['another scheme', 'http://app.example.com/'],
    ['a longer name', 'https://app.example.com.evil.example'],
    ['a name as user', 'https://app.example.com@evil.example'],
    ['a user', 'http://ada:secret@localhost:3000/'],
    ['a script', 'javascript:alert(1)'],
    ['a blob of the own origin', 'blob:http://localhost:3000/x'],
    ['white space in front', ' https://app.example.com'],
    ['an invalid URL', 'http://['],
  ])('rejects %s', (_what, target) => {
    expect(serviceWith().resolveReturnTo(target)).toBeUndefined();
  });
});
