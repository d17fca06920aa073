const UNIQUE_VIOLATION = '23505';
const FOREIGN_KEY_VIOLATION = '23503';
const CHECK_VIOLATION = '23514';
const LOCK_NOT_AVAILABLE = '55P03';
const QUERY_CANCELED = '57014';
const READ_ONLY_TRANSACTION = '25006';
const SERIALIZATION_FAILURES = ['40001', '40P01'];
const INTEGRITY_VIOLATION_CLASS = '23';
const INVALID_AUTHORIZATION_CLASS = '28';
/** Classes of data exceptions, violated constraints and exceeded limits, such as the size of an index entry. */
const UNSTORABLE_CLASSES = ['22', INTEGRITY_VIOLATION_CLASS, '54'];

/** Name of the unique or foreign key constraint (or unique index) that the statement violated; undefined for other errors. */
export function violatedReference(error: unknown): string | undefined {
  return [UNIQUE_VIOLATION, FOREIGN_KEY_VIOLATION].includes(stateOf(error)) ? constraintOf(error) : undefined;
}

/** Whether a constraint was violated. The transaction was certainly rolled back. */
export function isConstraintViolation(error: unknown): boolean {
  return classOf(error) === INTEGRITY_VIOLATION_CLASS;
}

/** Whether a partition is missing. Only for tables without check constraints, which cause the same SQLSTATE. */
export function isMissingPartition(error: unknown): boolean {
  return stateOf(error) === CHECK_VIOLATION;
}

/** Whether PostgreSQL rejects the values of the statement, so that a retry fails as well. */
export function isUnstorable(error: unknown): boolean {
  return UNSTORABLE_CLASSES.includes(classOf(error));
}

/** Whether another transaction holds a lock and the statement did not wait, or no longer. */
export function isLockTimeout(error: unknown): boolean {
  return stateOf(error) === LOCK_NOT_AVAILABLE;
}

/** Whether the statement failed because of a concurrent one, so that a retry may succeed immediately. */
export function isSerializationFailure(error: unknown): boolean {
  return SERIALIZATION_FAILURES.includes(stateOf(error));
}

/** Whether the statement exceeded its timeout. */
export function isStatementTimeout(error: unknown): boolean {
  return stateOf(error) === QUERY_CANCELED;
}

/** Whether the server accepts no writes, as a standby does. */
export function isReadOnly(error: unknown): boolean {
  return stateOf(error) === READ_ONLY_TRANSACTION;
}

/** Whether PostgreSQL rejects the credentials. A retry cannot succeed. */
export function isAuthenticationFailure(error: unknown): boolean {
  return classOf(error) === INVALID_AUTHORIZATION_CLASS;
}

/** Remedies of rejected connections, by SQLSTATE. */
const CONNECTION_REMEDIES: Readonly<Record<string, string>> = {
  '28P01': 'correct the user and the password',
  '28000': 'create the user, or allow its connections in pg_hba.conf',
  '3D000': 'create the database, or correct its name',
};

/** Remedy of a connection that PostgreSQL rejects for its user, password or database; undefined for other errors. */
export function connectionRemedy(error: unknown): string | undefined {
  return CONNECTION_REMEDIES[stateOf(error)];
}

/** SQLSTATE of an error of PostgreSQL. TypeORM copies the code to its own errors. */
function stateOf(error: unknown): string {
  return String((error as { code?: unknown } | undefined)?.code);
}

function classOf(error: unknown): string {
  return stateOf(error).slice(0, 2);
}

function constraintOf(error: unknown): string | undefined {
  return (error as { constraint?: string }).constraint;
}
