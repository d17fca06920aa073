export const NAME_MAX_LENGTH = 64;
/** RFC 1035, as text without the final dot. */
export const HOSTNAME_MAX_LENGTH = 253;
