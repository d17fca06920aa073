/** Lifetime of a device session. Approval and collection of the key must both happen within it. */
export const SESSION_SECONDS = 600;
/** Interval that devices are told; it never changes. */
export const POLL_INTERVAL_SECONDS = 5;
/** Shortest accepted interval between polls. It is below the announced one, because clocks drift and latency varies. */
export const POLL_MINIMUM_SECONDS = 4;
/** Longer device names are truncated. */
export const NAME_MAX_LENGTH = 64;
/** RFC 1035, in text form without the final dot. */
export const HOSTNAME_MAX_LENGTH = 253;
