import { assertRenamable, slugToInviteTo, slugToRelease } from './organization-rules.js';
import { PersonalOrganization, SlugCannotChange, SlugMismatch } from './organizations.errors.js';

const TEAM = { kind: 'team', slug: 'acme' } as const;
const PERSONAL = { kind: 'personal', slug: null } as const;

describe('rename', () => {
  it.each([undefined, 'acme'])('allows a team the slug %s', (slug) => assertRenamable(TEAM, slug));

  it.each(['other', 'ACME', 'acme '])('rejects the slug "%s" for a team', (slug) => {
    expect(() => assertRenamable(TEAM, slug)).toThrow(SlugCannotChange);
  });

  it('rejects a personal organization', () => {
    expect(() => assertRenamable(PERSONAL, undefined)).toThrow(PersonalOrganization);
  });

  it('reports the slug before the personal organization', () => {
    expect(() => assertRenamable(PERSONAL, 'mine')).toThrow(SlugCannotChange);
  });
});

describe('deletion', () => {
  it.each([undefined, 'acme'])('releases the slug of a team with the confirmation %s', (confirmation) => {
    expect(slugToRelease(TEAM, confirmation)).toBe('acme');
  });

  it.each(['', 'ACME', 'acme2'])('rejects the confirmation "%s"', (confirmation) => {
    expect(() => slugToRelease(TEAM, confirmation)).toThrow(SlugMismatch);
  });

  it.each([undefined, 'acme'])('rejects a personal organization with the confirmation %s', (confirmation) => {
    expect(() => slugToRelease(PERSONAL, confirmation)).toThrow(PersonalOrganization);
  });
});

describe('invitation', () => {
  it('names the slug of a team', () => expect(slugToInviteTo(TEAM)).toBe('acme'));

  it('rejects a personal organization', () => {
    expect(() => slugToInviteTo(PERSONAL)).toThrow('a personal organization cannot be invited to');
  });
});
