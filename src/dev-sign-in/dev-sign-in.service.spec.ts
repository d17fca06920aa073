import { createSecretKey } from 'node:crypto';
import { jwtVerify } from 'jose';
import type { SessionSettings, Settings } from '../config/settings.js';
import { DevSignInService } from './dev-sign-in.service.js';

const SECRET = Buffer.alloc(32, 's');

function serviceWith(session: Partial<SessionSettings> = {}): DevSignInService {
  return new DevSignInService({
    publicUrl: 'http://localhost:3000',
    dashboardUrl: 'https://app.example.com',
    session: { hs256Secret: SECRET, cookieName: 'mintkeep_session', ...session },
  } as Settings);
}

async function verify(token: string) {
  return jwtVerify(token, createSecretKey(SECRET), { algorithms: ['HS256'] });
}

describe('a session', () => {
  it('says who it is, for 30 days', async () => {
    const { payload } = await verify(await serviceWith().signIn('Ada@Example.com'));
    expect(payload).toEqual({
      sub: 'dev_b5fc85e55755f9e0d030a10a', // printf ada@example.com | sha256sum | cut -c1-24
      email: 'Ada@Example.com',
      iat: expect.any(Number),
      exp: payload.iat! + 30 * 24 * 60 * 60,
    });
  });

  it('names issuer and audience where they are checked', async () => {
    const service = serviceWith({ issuer: 'https://id.example.com', audience: 'mintkeep' });
    const { payload } = await verify(await service.signIn('ada@example.com'));
    expect(payload).toMatchObject({ iss: 'https://id.example.com', aud: 'mintkeep' });
  });

  it('is of the same user however the address is written, and of nobody else', async () => {
    const subjectOf = async (email: string) => (await verify(await serviceWith().signIn(email))).payload.sub;
    expect(await subjectOf('ADA@example.com')).toBe(await subjectOf('ada@example.com'));
    expect(await subjectOf('bob@example.com')).not.toBe(await subjectOf('ada@example.com'));
  });
});

describe('after the sign-in', () => {
  it.each([
    ['/', '/'],
    ['/auth/device?user_code=ABCD-EFGH#x', '/auth/device?user_code=ABCD-EFGH#x'],
    ['/a?to=//evil.example', '/a?to=//evil.example'],
    ['http://localhost:3000', 'http://localhost:3000/'],
    ['HTTPS://APP.example.com/join?token=x', 'https://app.example.com/join?token=x'],
  ])('a browser may go on to %s', (target, location) => {
    expect(serviceWith().returnTo(target)).toBe(location);
  });

  it.each([
    ['nothing', null],
    ['an empty text', ''],
    ['a path without a beginning', 'auth/device'],
    ['another host', '//evil.example'],
    ['our host without a scheme', '//localhost:3000/x'],
    ['another host for browsers', '/\\evil.example'],
    ['another host once the tab is dropped', '/\t/evil.example'],
    ['another host once the line feed is dropped', '/\n/evil.example'],
    ['backslashes', '\\\\evil.example'],
    ['another origin', 'https://evil.example'],
    ['another port', 'http://localhost:3001/'],
    ['another scheme', 'http://app.example.com/'],
    ['a longer name', 'https://app.example.com.evil.example'],
    ['a name as user', 'https://app.example.com@evil.example'],
    ['a user', 'http://ada:secret@localhost:3000/'],
    ['a script', 'javascript:alert(1)'],
    ['a blob of our origin', 'blob:http://localhost:3000/x'],
    ['white space in front', ' https://app.example.com'],
    ['what is no address', 'http://['],
  ])('a browser does not go on to %s', (_what, target) => {
    expect(serviceWith().returnTo(target)).toBeUndefined();
  });
});
