/** An object of JSON, of which nothing is known. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Undefined for everything else that JSON can be. */
export function asObject(value: unknown): JsonObject | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as JsonObject) : undefined;
}
