/** A table with its constraints and indexes. */
export interface Table {
  readonly name: string;
  readonly sql: string;
}
