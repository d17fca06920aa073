/** How long a device may wait for its approval, and for fetching the key. */
export const SESSION_SECONDS = 600;
/** What devices are told; the same for all and for ever. */
export const POLL_INTERVAL_SECONDS = 5;
/** A poll this long after the last accepted one is on time: clocks drift, and networks hurry. */
export const POLL_TOLERATED_SECONDS = 4;
/** Longer names of devices are cut. */
export const NAME_MAX_LENGTH = 64;
/** RFC 1035, as text without the final dot. */
export const HOSTNAME_MAX_LENGTH = 253;
