import { IdentityProviderUnavailable, NoValidSession } from '../auth/auth.errors.js';
import { BodyTooLarge } from '../common/body-bytes.js';
import { UnsupportedEncoding } from '../common/domain-error.js';
import { INTERNAL_ERROR } from '../common/error.filter.js';
import type { Refusal } from '../common/error.filter.js';
import { fieldRefusals, InvalidJson } from '../common/json-body.js';
import { MalformedId } from '../common/path-id.js';
import { AdminsOnly, OrganizationNotFound } from '../organizations/organizations.errors.js';
import type { Route } from './route.js';

/** All that the route may refuse, in the order that it is looked for. */
export function refusalsOf(route: Route): Refusal[] {
  const { operation, adminOnly } = route;
  const own = (operation.refuses ?? []).map((refused) =>
    typeof refused === 'function' ? new refused() : refused,
  );
  return [
    ...(route.isPublic ? [] : [new NoValidSession(), new IdentityProviderUnavailable()]),
    ...(route.hasIds ? [new MalformedId()] : []),
    ...(route.inOrganization ? [new OrganizationNotFound()] : []),
    ...(adminOnly === undefined ? [] : [new AdminsOnly(adminOnly)]),
    ...(route.body ? bodyRefusals(route.body.type) : []),
    ...own,
    INTERNAL_ERROR,
  ];
}

function bodyRefusals(type: new () => object): Refusal[] {
  return [new UnsupportedEncoding(), new BodyTooLarge(), new InvalidJson(), ...fieldRefusals(type)];
}
