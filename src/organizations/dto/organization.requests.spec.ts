import { violationsOf } from '../../../test/support/violations.js';
import { ChangeRoleDto, CreateOrganizationDto, UpdateOrganizationDto } from './organization.requests.js';

const MAX_CODE_POINTS = 255;

describe('name', () => {
  it.each([
    'A',
    ' A ',
    '\u00A0A\u2003',
    'é'.repeat(MAX_CODE_POINTS),
    '😀'.repeat(MAX_CODE_POINTS),
    '0',
    'a\tb',
  ])('accepts %j', (name) => expect(violationsOf(UpdateOrganizationDto, { name })).toEqual([]));

  it.each(['', ' ', '\u00A0\uFEFF', 'A'.repeat(MAX_CODE_POINTS + 1), 'a\0b', '\uD800', 1, true, {}])(
    'rejects %j',
    (name) => expect(violationsOf(UpdateOrganizationDto, { name })).toEqual(['invalid_name']),
  );
});

describe('slug', () => {
  it.each(['a', '0', 'a-b', 'a--b', 'a'.repeat(80)])('accepts %j', (slug) => {
    expect(violationsOf(CreateOrganizationDto, { name: 'A', slug })).toEqual([]);
  });

  it.each(['', '-', '-a', 'a-', 'A', 'ä', 'a_b', 'a b', ' a', 'a\n', 'a'.repeat(81), 1, {}])(
    'rejects %j',
    (slug) => expect(violationsOf(CreateOrganizationDto, { name: 'A', slug })).toEqual(['invalid_slug']),
  );
});

it('a new organization needs a name and a slug', () => {
  expect(violationsOf(CreateOrganizationDto, {})).toEqual(['invalid_name', 'invalid_slug']);
});

it('an update needs no member', () => expect(violationsOf(UpdateOrganizationDto, {})).toEqual([]));

it.each(['admin', 'member'])('the role %s exists', (role) => {
  expect(violationsOf(ChangeRoleDto, { role })).toEqual([]);
});

it.each(['owner', 'Admin', '', undefined, {}])('the role %j does not exist', (role) => {
  expect(violationsOf(ChangeRoleDto, { role })).toEqual(['invalid_role']);
});
