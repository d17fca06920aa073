import { startApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';
import { invite, teamOwner } from '../support/owners.js';
import { emailOf } from '../support/sessions.js';

let app: TestApp;
let count = 0;

// The app of its own file: passport knows one session strategy per process, that of the last app.
beforeAll(async () => {
  app = await startApp({ SESSION_REQUIRE_EMAIL_VERIFIED: 'true' });
});
afterAll(() => app.close());

describe('SESSION_REQUIRE_EMAIL_VERIFIED=true', () => {
  async function invited() {
    const user = `guest-${++count}`;
    const { token } = await invite(await teamOwner(app), emailOf(user));
    return { user, token };
  }

  it.each([undefined, null, false, 'false'])(
    'treats email_verified %j as unverified',
    async (email_verified) => {
      const { user, token } = await invited();
      const guest = await app.as(user, { email_verified });
      await guest.get('/me/invitations').expect(200, { invitations: [] });
      const { body } = await guest.post('/me/invitations/accept').send({ token }).expect(403);
      expect(body.error.type).toBe('email_unverified');
    },
  );

  it.each([true, 'true'])('treats email_verified %j as verified', async (email_verified) => {
    const { user, token } = await invited();
    const guest = await app.as(user, { email_verified });
    expect((await guest.get('/me/invitations').expect(200)).body.invitations).toHaveLength(1);
    await guest.post('/me/invitations/accept').send({ token }).expect(200);
  });
});
