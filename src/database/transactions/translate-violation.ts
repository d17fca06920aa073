import type { DomainError } from '../../common/api/domain-error.js';
import { violatedReference } from '../connection/sql-states.js';

/** Domain errors by the name of the unique or foreign key constraint (or unique index) whose violation they report. */
export type ViolationErrors = Readonly<Record<string, new () => DomainError>>;

/**
 * Throws the domain error of the violated unique or foreign key constraint. Rethrows every other error unchanged.
 *
 * @example
 * await transaction.insert(Project, project).catch((error: unknown) =>
 *   translateViolation(error, {
 *     projects_organization_id_name_key: NameTaken,
 *     projects_organization_id_fkey: OrganizationNotFound,
 *   }),
 * );
 */
export function translateViolation(error: unknown, errors: ViolationErrors): never {
  const constraint = violatedReference(error);
  if (constraint !== undefined && Object.hasOwn(errors, constraint)) throw new errors[constraint]!();
  throw error;
}
