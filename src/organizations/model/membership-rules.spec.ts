import { assertAnotherAdmin, assertLeavable, assertRole, isPromotion } from './membership-rules.js';
import { AdminsOnly, LastAdmin, OrganizationNotFound, PersonalOrganization } from './organizations.errors.js';

describe('role', () => {
  it.each([undefined, 'rename the organization'])('is reported as 404 for a stranger (%s)', (what) => {
    expect(() => assertRole(undefined, what)).toThrow(OrganizationNotFound);
  });

  it('member is enough where no admin is required', () => assertRole('member'));

  it('member is rejected where an admin is required', () => {
    const check = () => assertRole('member', 'change roles');
    expect(check).toThrow(AdminsOnly);
    expect(check).toThrow('only admins can change roles');
  });

  it('admin is always enough', () => {
    assertRole('admin');
    assertRole('admin', 'change roles');
  });
});

it.each([
  ['member', 'admin', true],
  ['member', 'member', false],
  ['admin', 'member', false],
  ['admin', 'admin', false],
] as const)('an invitation of a %s as %s is a promotion: %s', (current, offered, expected) => {
  expect(isPromotion(current, offered)).toBe(expected);
});

describe('last admin', () => {
  it.each([[['ann']], [[]]])('cannot be lost: admins %j without ann', (adminIds) => {
    expect(() => assertAnotherAdmin(adminIds, 'ann')).toThrow(LastAdmin);
  });

  it.each([[['ann', 'bob']], [['bob']]])('is left: admins %j without ann', (adminIds) =>
    assertAnotherAdmin(adminIds, 'ann'),
  );
});

it('a personal organization cannot be left, a team can', () => {
  expect(() => assertLeavable({ kind: 'personal' })).toThrow(PersonalOrganization);
  assertLeavable({ kind: 'team' });
});
