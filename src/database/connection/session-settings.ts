/** Setting of PostgreSQL sessions that the service depends on. */
export interface SessionSetting {
  readonly name: string;
  /** Value that every session requests. */
  readonly value: string;
  /** Pattern of the values that are equivalent to the requested one. */
  readonly accepted: RegExp;
}

/** Formats of times, and the isolation level. Concurrent transactions would fail at a stricter level. */
export const SESSION_SETTINGS: readonly SessionSetting[] = [
  { name: 'TimeZone', value: 'UTC', accepted: /^(Etc\/)?UTC$/ },
  { name: 'DateStyle', value: 'ISO', accepted: /^ISO\b/ },
  { name: 'default_transaction_isolation', value: 'read committed', accepted: /^read committed$/ },
];
