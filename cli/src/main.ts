import { CommanderError } from 'commander';
import type { Command } from 'commander';
import { CliError, errorCode, errorLine, EXIT, warn } from './errors.js';
import { exitOnInterrupt } from './interruption.js';
import { createProgram } from './program.js';

process.stdout.on('error', onOutputError);
process.stderr.on('error', onOutputError);
exitOnInterrupt();
await main(createProgram(), process.argv.slice(2));

async function main(program: Command, args: string[]): Promise<void> {
  for (const command of [program, ...program.commands])
    command.exitOverride().configureOutput({ outputError: () => undefined });
  if (args.length === 0) {
    program.outputHelp();
    process.exitCode = EXIT.usage;
    return;
  }
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    process.exitCode = report(error);
  }
}

/** Shows an error. @returns the exit code */
function report(error: unknown): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0; // --help and --version
    if (!error.code.startsWith('commander.help')) warn(usageMessage(error), 'see "mintkeep --help"');
    return EXIT.usage;
  }
  if (error instanceof CliError) {
    process.stderr.write(errorLine(error.message, error.advice));
    return error.exitCode;
  }
  // The text of an unexpected error may contain secrets, such as headers.
  const name = errorCode(error) ?? (error instanceof Error ? error.name : typeof error);
  warn(`unexpected error (${name})`, 'try again; if it fails again, report the command and this code');
  return EXIT.failed;
}

function usageMessage({ message }: CommanderError): string {
  return message.replace(/^error: /, '').replace(/\.\s*$/, '');
}

/** The reader of the output has gone, such as `head`: nobody needs the rest. */
function onOutputError(error: Error): void {
  if (errorCode(error) === 'EPIPE') process.exit();
  throw error;
}
