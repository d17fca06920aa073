import { BadRequest } from './domain-error.js';

/** Decimal, 1 to 15 digits (so that it is a safe integer), no leading zeros. */
export const ID = /^(?:0|[1-9][0-9]{0,14})$/;

/** The greatest that {@link ID} lets pass. */
export const ID_MAX = 999_999_999_999_999;

/** The path parameters that are not ids of ours though they end in `Id`. */
const NOT_NUMERIC = new Set(['userId']);

/** A path parameter that names an id of ours cannot be one. */
export class MalformedId extends BadRequest {
  constructor() {
    super('malformed id: a decimal integer of 1 to 15 digits is expected');
  }
}

/** @throws MalformedId */
export function assertPathIds(params: Record<string, unknown>): void {
  for (const name in params) {
    if (isPathId(name) && !ID.test(String(params[name]))) throw new MalformedId();
  }
}

/** Whether a path parameter of this name holds an id of ours. */
export function isPathId(name: string): boolean {
  return name.endsWith('Id') && !NOT_NUMERIC.has(name);
}
