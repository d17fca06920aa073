import { BadRequest } from './domain-error.js';

/** Decimal, 1 to 15 digits (so that it is a safe integer), no leading zeros. */
export const ID = /^(?:0|[1-9][0-9]{0,14})$/;

/** Greatest id that {@link ID} accepts. */
export const ID_MAX = 999_999_999_999_999;

/** Path parameters that end in `Id` and are not numeric. */
const NOT_NUMERIC = new Set(['userId']);

/** 400 for a path parameter that is not an id. */
export class MalformedId extends BadRequest {
  constructor() {
    super('malformed id: expected a decimal integer of 1 to 15 digits');
  }
}

/** @throws MalformedId */
export function assertPathIds(params: Record<string, unknown>): void {
  for (const name in params) {
    if (isPathId(name) && !ID.test(String(params[name]))) throw new MalformedId();
  }
}

/** Whether a path parameter of this name is a numeric id. */
export function isPathId(name: string): boolean {
  return name.endsWith('Id') && !NOT_NUMERIC.has(name);
}
