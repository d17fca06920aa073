import { QueryFailedError } from 'typeorm';

const UNIQUE_VIOLATION = '23505';
const FOREIGN_KEY_VIOLATION = '23503';
const INTEGRITY_VIOLATION_CLASS = '23';
const LOCK_NOT_AVAILABLE = '55P03';

type ConstraintError = Error & { constraint?: string };

/** Whether the statement failed because the named unique constraint (or index) would not hold. */
export function violatesUnique(error: unknown, constraint: string): boolean {
  return violates(error, UNIQUE_VIOLATION, constraint);
}

/** Whether the statement failed because what the named foreign key points to does not exist (any more). */
export function violatesForeignKey(error: unknown, constraint: string): boolean {
  return violates(error, FOREIGN_KEY_VIOLATION, constraint);
}

/** Whether PostgreSQL took back the transaction because of a constraint: nothing of it is there, for certain. */
export function isRefused(error: unknown): boolean {
  return codeOf(error)?.startsWith(INTEGRITY_VIOLATION_CLASS) ?? false;
}

/** Whether a row is locked by somebody else, and the statement was not to wait for that (any longer). */
export function lockNotAvailable(error: unknown): boolean {
  return codeOf(error) === LOCK_NOT_AVAILABLE;
}

function codeOf(error: unknown): string | undefined {
  return error instanceof QueryFailedError ? (error.driverError as { code?: string }).code : undefined;
}

function violates(error: unknown, code: string, constraint: string): boolean {
  return (
    codeOf(error) === code &&
    (error as QueryFailedError<ConstraintError>).driverError.constraint === constraint
  );
}
