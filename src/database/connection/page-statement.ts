import { PAGE_BYTES } from '../../common/api/paging.js';

/** Bytes that a page is read with. PostgreSQL writes JSON with spaces, so twice the bytes always contain a full page. */
const READ_BYTES = 2 * PAGE_BYTES;

/** Query of a list that is read page by page. */
export interface PagedQuery {
  /** Names in the order of the members of a row. */
  readonly columns: readonly string[];
  /** Query without `ORDER BY`. */
  readonly rows: string;
  /** Names of columns that define a total order. */
  readonly order: string;
}

/** Row of a page. `found` is the number of rows found for the page, including the first row of the next page. */
export type PageRow<T> = T & { readonly found: number };

/**
 * Creates a statement for the first `limit` rows and one more, whose presence means that another page follows. Rows
 * beyond the size of a page stay in the database, to save memory. The first row is always read.
 */
export function pageStatement({ columns, rows, order }: PagedQuery, limit: number): string {
  const names = columns.join(', ');
  return `
    SELECT ${names}, found FROM (
      SELECT *, count(*) OVER () AS found, sum(octet_length(to_json(page)::text))
        OVER (ORDER BY ${order} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS bytes_before
      FROM (${rows} ORDER BY ${order} LIMIT ${limit + 1}) AS page
    ) AS sized WHERE coalesce(bytes_before, 0) < ${READ_BYTES} ORDER BY ${order}`;
}
