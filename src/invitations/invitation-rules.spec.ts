import {
  assertAddressed,
  assertDeclinable,
  assertPending,
  needsCancellation,
  openOrganizationId,
} from './invitation-rules.js';
import {
  EmailMismatch,
  EmailUnverified,
  InvitationCancelled,
  InvitationExpired,
  InvitationNotFound,
  InvitationNotPending,
  InvitationUsed,
} from './invitations.errors.js';

const BY_TOKEN = false;
const BY_ID = true;
const ORGANIZATION_ID = 7;
const STATUSES = ['pending', 'accepted', 'cancelled', 'expired'] as const;

describe('addressee', () => {
  const invitation = { emailKey: 'ann@example.com', acceptedByUserId: null };
  const user = (email: string, emailVerified = true) => ({ id: 'ann', email, emailVerified });

  it.each(['ann@example.com', 'ANN@Example.com', ' ann@example.com '])('is found by "%s"', (email) => {
    assertAddressed(user(email), invitation, BY_TOKEN);
    assertAddressed(user(email), invitation, BY_ID);
  });

  it.each([
    ['verified', true, EmailMismatch],
    ['unverified', false, EmailUnverified],
  ])('is rejected by token if the %s address is another one', (_, emailVerified, expected) => {
    expect(() => assertAddressed(user('bob@example.com', emailVerified), invitation, BY_TOKEN)).toThrow(
      expected,
    );
  });

  it.each([true, false])(
    'learns nothing by id if the address is another one (verified: %s)',
    (emailVerified) => {
      expect(() => assertAddressed(user('bob@example.com', emailVerified), invitation, BY_ID)).toThrow(
        InvitationNotFound,
      );
    },
  );

  it.each([BY_TOKEN, BY_ID])('needs a verified address (by id: %s)', (hidden) => {
    expect(() => assertAddressed(user('ann@example.com', false), invitation, hidden)).toThrow(
      EmailUnverified,
    );
  });

  it.each([BY_TOKEN, BY_ID])(
    'stays the same user after acceptance, also under a new address (by id: %s)',
    (hidden) => {
      const accepted = { ...invitation, acceptedByUserId: 'ann' };
      assertAddressed(user('new@example.com'), accepted, hidden);
      const other = { ...user('new@example.com'), id: 'bob' };
      expect(() => assertAddressed(other, accepted, hidden)).toThrow(
        hidden ? InvitationNotFound : EmailMismatch,
      );
    },
  );

  it('is not confused by the Kelvin sign', () => {
    const kelvin = { ...invitation, emailKey: 'k@example.com' };
    expect(() => assertAddressed(user('\u212A@example.com'), kelvin, BY_TOKEN)).toThrow(EmailMismatch);
  });
});

describe('state', () => {
  it.each(['pending', 'accepted'] as const)('%s is open while the organization exists', (status) => {
    expect(openOrganizationId(status, ORGANIZATION_ID)).toBe(ORGANIZATION_ID);
  });

  it.each([
    ['cancelled', ORGANIZATION_ID, InvitationCancelled],
    ['cancelled', null, InvitationCancelled],
    ['expired', ORGANIZATION_ID, InvitationExpired],
    ['expired', null, InvitationExpired],
    ['accepted', null, InvitationUsed],
  ] as const)('%s in organization %s is rejected', (status, organizationId, expected) => {
    expect(() => openOrganizationId(status, organizationId)).toThrow(expected);
  });

  it('accepted cannot be declined', () => {
    expect(() => assertDeclinable('accepted')).toThrow(InvitationUsed);
    assertDeclinable('pending');
  });

  it.each(STATUSES)('%s is resent and cancelled only while it is pending', (status) => {
    if (status === 'pending') {
      assertPending(status);
      expect(needsCancellation(status)).toBe(true);
      return;
    }
    expect(() => assertPending(status)).toThrow(InvitationNotPending);
    if (status === 'cancelled') expect(needsCancellation(status)).toBe(false);
    else expect(() => needsCancellation(status)).toThrow(InvitationNotPending);
  });
});
