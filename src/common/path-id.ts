import { BadRequest } from './domain-error.js';

/** Decimal, 1 to 15 digits (so that it is a safe integer), no leading zeros. */
const ID = /^(?:0|[1-9][0-9]{0,14})$/;

/** The path parameters that are not ids of ours though they end in `Id`. */
const NOT_NUMERIC = new Set(['userId']);

/** @throws BadRequest when a path parameter that names an id of ours is malformed */
export function assertPathIds(params: Record<string, unknown>): void {
  for (const name in params) {
    if (name.endsWith('Id') && !NOT_NUMERIC.has(name) && !ID.test(String(params[name]))) {
      throw new BadRequest('malformed id: a decimal integer of 1 to 15 digits is expected');
    }
  }
}
