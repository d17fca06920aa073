// Keys of advisory locks, which all replicas share. Keys of one number (ids of documents, negative constants) and keys
// of two numbers (kind and hash) are separate key spaces of PostgreSQL.

export const MIGRATION_LOCK = -7_461_001;
export const PARTITIONS_LOCK = -7_461_002;

/** Kind of locks on the hash of a job's name. */
export const LOCKS_OF_JOBS = 7_461;
/**
 * Kinds of locks on the hash of an owner's id. A transaction takes several of them in this order, which prevents
 * deadlocks.
 */
export const LOCKS_OF_CAPS = {
  upstreams: 7_462,
  projects: 7_463,
  documents: 7_464,
  foundedTeams: 7_465,
  keysOfUser: 7_466,
  keysOfOrganization: 7_467,
  mailsOfInviter: 7_469,
} as const;
/** Kind of locks on the hash of an organization's id: shared for writes that depend on a role, exclusive for its loss. */
export const LOCKS_OF_MEMBERS = 7_468;
