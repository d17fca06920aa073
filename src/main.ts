import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { errorMessage } from './common/logging/error-message.js';
import { onStopSignals } from './common/process/stop-signals.js';
import { VERSION } from './common/process/version.js';
import { SettingsError } from './config/environment.js';
import { parseSettings } from './config/parse-settings.js';
import type { Settings } from './config/settings.js';
import { EmbeddedPostgresEnded, startEmbeddedPostgres } from './embedded-postgres/embedded-postgres.js';
import { setupApp } from './setup-app.js';

/** Time that requests have to finish after the process was asked to stop. */
const DRAIN_TIMEOUT_MS = 30_000;
/** Time for the rest of the shutdown. An unreachable database would delay it without end. */
const CLOSE_TIMEOUT_MS = 15_000;

/** Replaces the end of the embedded PostgreSQL when there is none. */
const NEVER = new Promise<never>(() => undefined);

/** Numeric level of pino. */
const INFO = 30;

async function main(): Promise<void> {
  const settings = parseSettings(process.env);
  const stop = stopSignal(); // registered early, so that an interrupted start also stops PostgreSQL
  const embedded =
    settings.databaseUrl === undefined
      ? await startEmbeddedPostgres({ dataDir: settings.dataDir })
      : undefined;
  try {
    const setup = setupApp(settings, settings.databaseUrl ?? embedded!.url);
    const ended = embedded?.ended ?? NEVER;
    const app = await Promise.race([setup, stop, ended]);
    if (!app) return void setup.catch(() => undefined); // the process ends, so its result does not matter
    await listen(app, settings);
    process.stdout.write(announcement(describeService(app, settings), process.stdout.isTTY));
    await Promise.race([stop, ended]);
    await drain(app, settings);
  } finally {
    await embedded?.stop();
  }
}

/** @throws SettingsError if the address cannot be bound */
async function listen(app: NestExpressApplication, { port, host }: Settings): Promise<void> {
  try {
    await app.listen(port, host);
  } catch (error) {
    await app.close();
    throw new SettingsError(addressProblem(error as NodeJS.ErrnoException, port, host), { cause: error });
  }
}

function addressProblem({ code, message }: NodeJS.ErrnoException, port: number, host: string): string {
  if (code === 'EADDRINUSE') return `PORT ${port} is in use`;
  if (code === 'EACCES') return `PORT ${port} requires privileges that this process does not have`;
  return `HOST ${host} is not an address of this machine: ${message}`;
}

type ServiceDescription = readonly (readonly [name: string, value: string])[];

/** Lists addresses, storage and database of the running service. */
function describeService(app: NestExpressApplication, settings: Settings): ServiceDescription {
  const { address, port } = app.getHttpServer().address() as AddressInfo;
  return [
    [settings.dashboard ? 'dashboard' : 'API', settings.publicUrl],
    ['version', VERSION],
    ['listening on', `${address}:${port}`],
    ['API docs', `${settings.publicUrl}/docs`],
    [
      'sign-in',
      settings.developmentSignIn
        ? `${settings.publicUrl}/dev/sign-in (development: any address)`
        : 'by the identity provider',
    ],
    ['database', settings.databaseUrl ? 'the PostgreSQL of DATABASE_URL' : 'embedded PostgreSQL'],
    [
      'documents',
      settings.minio ? `${settings.minio.endpoint.origin}, bucket ${settings.minio.bucket}` : 'files',
    ],
    ['data folder', settings.dataDir],
  ];
}

/** Formats the description as a table for a terminal, and otherwise as a line of the log, independent of its level. */
function announcement(description: ServiceDescription, isTerminal: boolean): string {
  const title = 'mintkeep is running';
  if (!isTerminal) {
    const line = {
      level: INFO,
      time: new Date().toISOString(),
      ...Object.fromEntries(description),
      msg: title,
    };
    return `${JSON.stringify(line)}\n`;
  }
  const rows = description.map(([name, value]) => `  ${name.padEnd(14)}${value}`).join('\n');
  return `\n${title}\n\n${rows}\n\nCtrl-C stops it.\n\n`;
}

function stopSignal(): Promise<void> {
  return new Promise((resolve) => onStopSignals(resolve));
}

/** Stops accepting requests, waits for open ones, and closes connections that take too long. */
async function drain(app: NestExpressApplication, { shutdownDelayMs }: Settings): Promise<void> {
  const timeoutMs = shutdownDelayMs + DRAIN_TIMEOUT_MS;
  const cutOff = setTimeout(() => app.getHttpServer().closeAllConnections(), timeoutMs);
  await Promise.race([app.close(), pause(timeoutMs + CLOSE_TIMEOUT_MS, undefined, { ref: false })]);
  clearTimeout(cutOff);
}

process.stdout.on('error', () => undefined); // a full disk or a closed pipe must not end the service
main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${reasonOf(error)}\n`);
    process.exit(1);
  },
);

/** Formats a failed start: one line per wrong setting, or one line for another error. Level `debug` adds the stack. */
function reasonOf(error: unknown): string {
  if (error instanceof SettingsError || error instanceof EmbeddedPostgresEnded) return error.message;
  const { stack } = error instanceof Error ? error : new Error(String(error));
  return `mintkeep cannot start: ${process.env.LOG_LEVEL === 'debug' ? stack : errorMessage(error)}`;
}
