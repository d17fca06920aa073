const UNIQUE_VIOLATION = '23505';
const FOREIGN_KEY_VIOLATION = '23503';
const CHECK_VIOLATION = '23514';
const LOCK_NOT_AVAILABLE = '55P03';
const QUERY_CANCELED = '57014';
const READ_ONLY_TRANSACTION = '25006';
const RACES = ['40001', '40P01'];
const INTEGRITY_VIOLATION_CLASS = '23';
const INVALID_AUTHORIZATION_CLASS = '28';
/** Data exceptions, violated constraints, and what is too large for an index. */
const UNSTORABLE_CLASSES = ['22', INTEGRITY_VIOLATION_CLASS, '54'];

/** Whether the statement failed because the named unique constraint (or index) would not hold. */
export function violatesUnique(error: unknown, constraint: string): boolean {
  return stateOf(error) === UNIQUE_VIOLATION && constraintOf(error) === constraint;
}

/** Whether the statement failed because what the named foreign key points to does not exist (any more). */
export function violatesForeignKey(error: unknown, constraint: string): boolean {
  return stateOf(error) === FOREIGN_KEY_VIOLATION && constraintOf(error) === constraint;
}

/** Whether PostgreSQL took back the transaction because of a constraint: nothing of it is there, for certain. */
export function violatesConstraint(error: unknown): boolean {
  return classOf(error) === INTEGRITY_VIOLATION_CLASS;
}

/** Whether there is no partition for a row. For tables without checks: PostgreSQL does not tell one from the other. */
export function lacksPartition(error: unknown): boolean {
  return stateOf(error) === CHECK_VIOLATION;
}

/** Whether the database refuses what the statement holds, and will do so again. */
export function isUnstorable(error: unknown): boolean {
  return UNSTORABLE_CLASSES.includes(classOf(error));
}

/** Whether a row is locked by somebody else, and the statement was not to wait for that (any longer). */
export function lockNotAvailable(error: unknown): boolean {
  return stateOf(error) === LOCK_NOT_AVAILABLE;
}

/** Whether the same statement may succeed at once: it got in the way of another one. */
export function lostRace(error: unknown): boolean {
  return RACES.includes(stateOf(error));
}

/** Whether the statement took longer than it may. */
export function tookTooLong(error: unknown): boolean {
  return stateOf(error) === QUERY_CANCELED;
}

/** Whether nothing may be written, as at a standby. */
export function isReadOnly(error: unknown): boolean {
  return stateOf(error) === READ_ONLY_TRANSACTION;
}

/** Whether who connects is not let in, and will not be: a wrong password does not become right. */
export function isWrongPassword(error: unknown): boolean {
  return classOf(error) === INVALID_AUTHORIZATION_CLASS;
}

/** The SQLSTATE of an error of PostgreSQL's, which TypeORM takes over into its own. */
function stateOf(error: unknown): string {
  return String((error as { code?: unknown } | undefined)?.code);
}

function classOf(error: unknown): string {
  return stateOf(error).slice(0, 2);
}

function constraintOf(error: unknown): string | undefined {
  return (error as { constraint?: string }).constraint;
}
