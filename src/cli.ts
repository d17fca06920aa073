import 'reflect-metadata';
import { COULD_NOT } from './commands/command.js';
import { runCommand } from './commands/run-command.js';
import { messagesOf } from './common/messages-of.js';
import { STOP_SIGNALS } from './common/stop-signals.js';

for (const [signal, code] of Object.entries(STOP_SIGNALS)) {
  process.once(signal, () => process.exit(code)); // not without telling an embedded PostgreSQL
}

/** The operator's commands: `node dist/cli.js <command>`. */
runCommand(process.argv.slice(2), process.env, (line) => process.stdout.write(`${line}\n`)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${messagesOf(error)}\n`);
    process.exit(COULD_NOT);
  },
);
