import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { requireLogin } from '../credentials/selection.js';
import type { SelectionOptions } from '../credentials/selection.js';
import { CliError, errorCode } from '../errors.js';
import { ignoreInterrupts } from '../interruption.js';
import { variablesOf } from '../shell/variables.js';
import { PASSED_SIGNALS, SignalWitness } from './signal-witness.js';
import type { PassedSignal } from './signal-witness.js';

const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

/** Runs a command with the variables of SDKs and tools, and with those that a client below it needs. */
export async function run(words: readonly string[], options: SelectionOptions): Promise<void> {
  const login = await requireLogin(options);
  const ofClient = { MINTKEEP_API_KEY: login.key, ...(login.insecure && { MINTKEEP_INSECURE: '1' }) };
  ignoreInterrupts(); // the command decides what Ctrl-C means
  process.exitCode = await runCommand(words, { ...process.env, ...variablesOf(login), ...ofClient });
}

/**
 * Runs a command with the standard streams of this process. Every signal reaches it once.
 * @returns its exit code; 128 + n after signal n
 * @throws CliError if it cannot be started
 */
async function runCommand(words: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const [file = '', ...args] = words;
  if (file === '') throw notFound("''");
  const early: PassedSignal[] = [];
  let onSignal = (signal: PassedSignal): unknown => early.push(signal);
  const listen = (signal: NodeJS.Signals): unknown => onSignal(signal as PassedSignal);
  for (const signal of PASSED_SIGNALS) process.on(signal, listen);
  // Windows sends Ctrl-C to all processes of the console, and has no other signals.
  const witness = process.platform === 'win32' ? undefined : await SignalWitness.start();
  try {
    const child = spawn(file, args, { env, stdio: 'inherit' });
    onSignal = async (signal) => {
      if (witness && !(await witness.hasReceived(signal))) child.kill(signal);
    };
    for (const signal of early) onSignal(signal);
    return await new Promise<number>((resolve, reject) => {
      child.once('error', (error) => reject(toStartError(file, error)));
      child.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal!]));
    });
  } finally {
    witness?.end();
    for (const signal of PASSED_SIGNALS) process.off(signal, listen);
  }
}

function toStartError(file: string, error: unknown): CliError {
  const code = errorCode(error) ?? 'unknown error';
  if (code === 'ENOENT') return notFound(file);
  return new CliError(`the command ${file} cannot be run (${code})`, 'check its permissions', NOT_EXECUTABLE);
}

function notFound(file: string): CliError {
  return new CliError(`the command ${file} was not found`, 'check its name and PATH', NOT_FOUND);
}
