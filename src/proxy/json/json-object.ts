/** Parsed JSON object with unknown members. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** @returns undefined for any JSON value that is not an object */
export function asObject(value: unknown): JsonObject | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as JsonObject) : undefined;
}
