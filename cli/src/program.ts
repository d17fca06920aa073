import { readFileSync } from 'node:fs';
import { Argument, Command, Option } from 'commander';
import type { LoginOptions } from './commands/login.js';
import { COMPLETION_SHELLS, completionScript } from './shell/completion.js';
import type { CompletionShell } from './shell/completion.js';
import { SHELLS } from './shell/quote.js';
import { print } from './terminal/terminal.js';

const PROFILE = ['--profile <profile>', 'login to use (default: MINTKEEP_PROFILE, or "default")'] as const;
const JSON_OPTION = ['--json', 'print JSON'] as const;

/** Creates the definition of the command line. Actions import their modules on demand, so that `--help` is fast. */
export function createProgram(): Command {
  const program = new Command('mintkeep')
    .description('Gets a proxy key of a mintkeep service by device flow, and puts it to use.')
    .version(ownVersion())
    .enablePositionalOptions();
  addLoginCommands(program);
  addKeyCommands(program);
  addModelCommands(program);
  program
    .command('completion')
    .description('Print a completion script for a shell.')
    .addArgument(new Argument('<shell>', 'shell').choices(COMPLETION_SHELLS))
    .action((shell: CompletionShell) => print(completionScript(program, shell)));
  return program;
}

function addLoginCommands(program: Command): void {
  program
    .command('login')
    .description('Get a key: shows a code, waits until you approve it in a browser, and stores the key.')
    .argument('[server]', 'address of the service (default: the last one used, then http://localhost:3000)')
    .option('--name <name>', 'name of the device, also of the key')
    .option(...PROFILE)
    .option('--no-browser', 'do not open a browser')
    .option('--insecure', 'accept plain http to another machine; remembered for the profile')
    .option('--json', 'print a line of JSON with the code, and one with the result')
    .action(async (server: string | undefined, options: LoginOptions) =>
      (await import('./commands/login.js')).login(server, options),
    );
  program
    .command('status')
    .description('Show the login, and whether its key works.')
    .option(...PROFILE)
    .option(...JSON_OPTION)
    .action(async (options: object) => (await import('./commands/status.js')).status(options));
  program
    .command('logout')
    .description('Revoke the key on the server, then delete it from this machine.')
    .option(...PROFILE)
    .option('--all', 'log out with all profiles')
    .option('--force', 'delete the key from this machine even if it cannot be revoked')
    .action(async (options: object) => (await import('./commands/logout.js')).logout(options));
}

function addKeyCommands(program: Command): void {
  program
    .command('token')
    .description('Print the key and nothing else.')
    .option(...PROFILE)
    .action(async (options: object) => (await import('./commands/key-output.js')).token(options));
  program
    .command('env')
    .description('Print the variables of SDKs and tools, for eval.')
    .addOption(new Option('--shell <shell>', 'format (default: from SHELL, else bash)').choices(SHELLS))
    .option(...PROFILE)
    .action(async (options: object) => (await import('./commands/key-output.js')).env(options));
  program
    .command('run')
    .description('Run a command with the variables of SDKs and tools.')
    .argument('<command...>', 'command and its arguments; options after the command belong to it')
    .option(...PROFILE)
    .passThroughOptions()
    .action(async (words: string[], options: object) =>
      (await import('./run/run-command.js')).run(words, options),
    );
}

function addModelCommands(program: Command): void {
  program
    .command('models')
    .description('List the models: a table on a terminal, otherwise one name per line.')
    .option(...PROFILE)
    .option('--json', "print the service's response")
    .action(async (options: object) => (await import('./commands/models.js')).models(options));
  program
    .command('chat')
    .description('Send a prompt and print the response as it arrives.')
    .argument('[prompt]', 'prompt; standard input follows it after an empty line')
    .option('-m, --model <model>', 'model (default: the first one of the list)')
    .option('-s, --system <text>', 'system prompt')
    .option('--stats', 'print tokens and times on standard error')
    .option('--json', 'print one object with model, text and usage')
    .option(...PROFILE)
    .action(async (prompt: string | undefined, options: object) =>
      (await import('./commands/chat.js')).chat(prompt, options),
    );
  program
    .command('usage')
    .description('Show requests, tokens and cost of the key by day and model.')
    .option('--days <days>', 'calendar days (UTC), today included: 1 to 90 (default: 30)')
    .option(...PROFILE)
    .option(...JSON_OPTION)
    .action(async (options: object) => (await import('./commands/usage.js')).usage(options));
}

function ownVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
