/** A setting of PostgreSQL's sessions that the service relies on. */
export interface SessionSetting {
  readonly name: string;
  /** What every session asks for. */
  readonly value: string;
  /** As it is shown where that, or something as good, is so. */
  readonly shown: RegExp;
}

/** For the form in which times are read, and for transactions that meet each other: in a stricter isolation they fail. */
export const SESSION_SETTINGS: readonly SessionSetting[] = [
  { name: 'TimeZone', value: 'UTC', shown: /^(Etc\/)?UTC$/ },
  { name: 'DateStyle', value: 'ISO', shown: /^ISO\b/ },
  { name: 'default_transaction_isolation', value: 'read committed', shown: /^read committed$/ },
];
