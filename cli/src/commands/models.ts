import { requireLogin } from '../credentials/selection.js';
import type { SelectionOptions } from '../credentials/selection.js';
import { listModels } from '../network/models.js';
import type { Model } from '../network/models.js';
import { printable } from '../terminal/printable.js';
import { table } from '../terminal/table.js';
import { isTerminal, print, printJson } from '../terminal/terminal.js';

const COLUMNS = [
  { title: 'Model', value: ({ id }: Model) => id },
  { title: 'Owned by', value: ({ owned_by }: Model) => (typeof owned_by === 'string' ? owned_by : '') },
  { title: 'Created', value: ({ created }: Model) => toDay(created) },
];

/** Lists the models that the key may use. */
export async function models({ json, ...options }: SelectionOptions & { json?: boolean }): Promise<void> {
  const list = await listModels(await requireLogin(options));
  if (json) return printJson(list);
  if (isTerminal(process.stdout)) return print(table(COLUMNS, list.data));
  for (const { id } of list.data) print(printable(id));
}

/** Formats Unix time; empty if it is unknown. Some upstreams send text, milliseconds or microseconds. */
function toDay(unixTime: unknown): string {
  if (typeof unixTime !== 'number' || unixTime === 0) return '';
  const date = new Date(unixTime * 1_000);
  const text = Number.isNaN(date.getTime()) ? '' : date.toISOString();
  return /^\d{4}-\d\d-\d\d/.exec(text)?.[0] ?? '';
}
