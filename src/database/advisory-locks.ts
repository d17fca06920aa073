// Advisory locks that replicas take from each other: all have to mean the same by a number. PostgreSQL keeps those of
// one number, which are the ids of documents and what is below 0, apart from those of two, the first of which says of what.

export const MIGRATION_LOCK = -7_461_001;
export const PARTITIONS_LOCK = -7_461_002;

/** With the hash of a job's name. */
export const LOCKS_OF_JOBS = 7_461;
/** With the hash of an organization's id. */
export const LOCKS_OF_POOLS = 7_462;
