import { requireLogin } from '../credentials/selection.js';
import type { SelectionOptions } from '../credentials/selection.js';
import { ignoreInterrupts } from '../interruption.js';
import { runCommand } from '../run/run-command.js';
import { variablesOf } from '../shell/variables.js';

/** Runs a command with the variables of SDKs and tools. */
export async function run(words: readonly string[], options: SelectionOptions): Promise<void> {
  const variables = variablesOf(await requireLogin(options));
  ignoreInterrupts(); // the command decides what Ctrl-C means
  process.exitCode = await runCommand(words, { ...process.env, ...variables });
}
