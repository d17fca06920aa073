import { requireLogin } from '../credentials/selection.js';
import type { SelectionOptions } from '../credentials/selection.js';
import { CliError, UsageError } from '../errors.js';
import type { Measures, Usage } from '../network/introspection.js';
import { introspect } from '../network/service.js';
import { bar, table } from '../terminal/table.js';
import type { Column } from '../terminal/table.js';
import { isTerminal, print, printJson } from '../terminal/terminal.js';
import { dollars } from './limits.js';

const DEFAULT_DAYS = 30;
const MAX_DAYS = 90;
const BAR_WIDTH = 20;

interface Row extends Measures {
  readonly day: string;
  readonly model: string;
}

interface UsageOptions extends SelectionOptions {
  readonly days?: string;
  readonly json?: boolean;
}

/** Shows the usage of the key by day and model. */
export async function usage({ days, json, ...options }: UsageOptions): Promise<void> {
  const count = parseDays(days);
  const login = await requireLogin(options);
  const { usage: found } = await introspect(login, count);
  if (!found) throw new CliError(`${login.server} does not report usage`, 'ask its operator for an update');
  if (json) return printJson(found);
  const rows = rowsOf(found);
  if (rows.length === 0) return print(`No requests in the last ${count} days.`);
  print(usageTable([...rows, { ...found.totals, day: 'Total', model: '' }], isTerminal(process.stdout)));
}

function parseDays(text: string | undefined): number {
  if (text === undefined) return DEFAULT_DAYS;
  const days = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (days >= 1 && days <= MAX_DAYS) return days;
  throw new UsageError(`--days must be a whole number from 1 to ${MAX_DAYS}`);
}

function rowsOf({ buckets }: Usage): Row[] {
  return buckets.flatMap(({ start, groups }) =>
    groups.map((group) => ({ ...group, day: start.slice(0, 10), model: group.model ?? '(none)' })),
  );
}

function usageTable(rows: readonly Row[], hasBars: boolean): string {
  const largest = Math.max(...rows.slice(0, -1).map(({ requests }) => requests));
  const columns: Column<Row>[] = [
    { title: 'Day', value: ({ day }) => day },
    { title: 'Model', value: ({ model }) => model },
    { title: 'Requests', value: ({ requests }) => String(requests), isNumber: true },
    { title: 'Input', value: ({ input_tokens }) => count(input_tokens), isNumber: true },
    { title: 'Output', value: ({ output_tokens }) => count(output_tokens), isNumber: true },
    { title: 'Tokens', value: ({ total_tokens }) => count(total_tokens), isNumber: true },
  ];
  if (rows.some(({ cost_usd }) => cost_usd !== undefined))
    columns.push({ title: 'Cost', value: ({ cost_usd }) => cost(cost_usd), isNumber: true });
  if (hasBars)
    columns.push({
      title: '',
      value: ({ day, requests }) => (day === 'Total' ? '' : bar(requests, largest, BAR_WIDTH)),
    });
  return table(columns, rows);
}

function count(value: number | null): string {
  return value === null ? '-' : String(value);
}

function cost(value: number | null | undefined): string {
  return value === null || value === undefined ? '-' : dollars(value);
}
