import { IdentityProviderUnavailable, NoValidSession } from '../auth/auth.errors.js';
import { ANONYMOUS_BODY, BodyTooLarge, SESSION_BODY } from '../common/body/body-bytes.js';
import { RequestTimeout, UnsupportedEncoding } from '../common/api/domain-error.js';
import { INTERNAL_ERROR } from '../common/api/error.filter.js';
import type { Rejection } from '../common/api/error.filter.js';
import { fieldRejections, InvalidJson } from '../common/body/json-body.js';
import { MalformedId } from '../common/api/path-id.js';
import { AdminsOnly, OrganizationNotFound } from '../organizations/model/organizations.errors.js';
import type { Route } from './route.js';

/** Lists all rejections of a route, in the order of the checks. */
export function listRejections(route: Route): Rejection[] {
  const { operation, adminOnly } = route;
  const own = (operation.rejects ?? []).map((rejection) =>
    typeof rejection === 'function' ? new rejection() : rejection,
  );
  return [
    ...(route.isPublic ? [] : [new NoValidSession(), new IdentityProviderUnavailable()]),
    ...(route.hasIds ? [new MalformedId()] : []),
    ...(route.isInOrganization ? [new OrganizationNotFound()] : []),
    ...(adminOnly === undefined ? [] : [new AdminsOnly(adminOnly)]),
    ...(route.body ? bodyRejections(route.body.type, route.isPublic) : []),
    ...own,
    INTERNAL_ERROR,
  ];
}

function bodyRejections(type: new () => object, isPublic: boolean): Rejection[] {
  const { limitBytes } = isPublic ? ANONYMOUS_BODY : SESSION_BODY;
  return [
    new UnsupportedEncoding(),
    new BodyTooLarge(limitBytes),
    new InvalidJson(),
    ...fieldRejections(type),
    new RequestTimeout(),
  ];
}
