import 'reflect-metadata';
import { FAILED } from './commands/command.js';
import { runCommand } from './commands/run-command.js';
import { errorMessage } from './common/logging/error-message.js';
import { STOP_SIGNALS } from './common/process/stop-signals.js';

for (const [signal, code] of Object.entries(STOP_SIGNALS)) {
  process.once(signal, () => process.exit(code)); // runs the `exit` listeners, which stop an embedded PostgreSQL
}

/** Commands for operators: `node dist/cli.js <command>`. */
runCommand(process.argv.slice(2), process.env, (line) => process.stdout.write(`${line}\n`)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${errorMessage(error)}\n`);
    process.exit(FAILED);
  },
);
