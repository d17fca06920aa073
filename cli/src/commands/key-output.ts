import { requireLogin } from '../credentials/selection.js';
import type { SelectionOptions } from '../credentials/selection.js';
import { formatVariables, userShell } from '../shell/quote.js';
import type { Shell } from '../shell/quote.js';
import { variablesOf } from '../shell/variables.js';
import { print } from '../terminal/terminal.js';

/** Prints the key and nothing else. */
export async function token(options: SelectionOptions): Promise<void> {
  print((await requireLogin(options)).key);
}

/** Prints the variables of SDKs and tools, quoted for a shell. */
export async function env({
  shell = userShell(),
  ...options
}: SelectionOptions & { shell?: Shell }): Promise<void> {
  print(formatVariables(variablesOf(await requireLogin(options)), shell));
}
