import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { messagesOf } from './common/messages-of.js';
import { onStopSignals } from './common/stop-signals.js';
import { SettingsError } from './config/environment.js';
import { parseSettings } from './config/parse-settings.js';
import type { Settings } from './config/settings.js';
import { startEmbeddedPostgres } from './database/embedded/embedded-postgres.js';
import { setupApp } from './setup-app.js';

/** How long requests may take to finish once the process was asked to stop. */
const DRAIN_TIMEOUT_MS = 30_000;
/** And the rest of the shutdown behind them, of which the database may never answer. */
const CLOSE_TIMEOUT_MS = 15_000;

/** As pino has it in its lines. */
const INFO = 30;

async function main(): Promise<void> {
  const settings = parseSettings(process.env);
  const stop = stopSignal(); // from here on: a start that is interrupted stops what it has started
  const embedded =
    settings.databaseUrl === undefined
      ? await startEmbeddedPostgres({ dataDir: settings.dataDir })
      : undefined;
  try {
    const setup = setupApp(settings, settings.databaseUrl ?? embedded!.url);
    const app = await Promise.race([setup, stop]);
    if (!app) return void setup.catch(() => undefined); // what becomes of it is of no interest any more
    await listen(app, settings);
    process.stdout.write(announcement(placesOf(app, settings), process.stdout.isTTY));
    await stop;
    await drain(app, settings);
  } finally {
    await embedded?.stop();
  }
}

/** @throws SettingsError where the address cannot be had */
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
  if (code === 'EACCES') return `PORT ${port} needs rights that this process does not have`;
  return `HOST ${host} is not an address of this machine: ${message}`;
}

type Places = readonly (readonly [name: string, value: string])[];

/** What is running where. */
function placesOf(app: NestExpressApplication, settings: Settings): Places {
  const { address, port } = app.getHttpServer().address() as AddressInfo;
  return [
    ['listening on', `${address}:${port}`],
    ['API', settings.publicUrl],
    ['docs', `${settings.publicUrl}/docs`],
    [
      'sign-in',
      settings.developmentSignIn
        ? `${settings.publicUrl}/dev/sign-in (development)`
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

/** For the eyes of whoever has just started it in a terminal; elsewhere a line of the log, whatever its level. */
function announcement(places: Places, isTerminal: boolean): string {
  const title = 'mintkeep is running';
  if (!isTerminal) {
    const line = { level: INFO, time: new Date().toISOString(), ...Object.fromEntries(places), msg: title };
    return `${JSON.stringify(line)}\n`;
  }
  const rows = places.map(([name, value]) => `  ${name.padEnd(14)}${value}`).join('\n');
  return `\n${title}\n\n${rows}\n\nCtrl-C stops it.\n\n`;
}

function stopSignal(): Promise<void> {
  return new Promise((resolve) => onStopSignals(resolve));
}

/** Stops accepting, lets running requests finish, and cuts off what does not in time. */
async function drain(app: NestExpressApplication, { shutdownDelayMs }: Settings): Promise<void> {
  const timeoutMs = shutdownDelayMs + DRAIN_TIMEOUT_MS;
  const cutOff = setTimeout(() => app.getHttpServer().closeAllConnections(), timeoutMs);
  await Promise.race([app.close(), pause(timeoutMs + CLOSE_TIMEOUT_MS, undefined, { ref: false })]);
  clearTimeout(cutOff);
}

process.stdout.on('error', () => undefined); // of a full disk or a reader who has gone: no reason to end
main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${reasonOf(error)}\n`);
    process.exit(1);
  },
);

/** One line for each setting, or one for what else is in the way; where it came from only for who debugs. */
function reasonOf(error: unknown): string {
  if (error instanceof SettingsError) return error.message;
  const { stack } = error instanceof Error ? error : new Error(String(error));
  return `mintkeep cannot start: ${process.env.LOG_LEVEL === 'debug' ? stack : messagesOf(error)}`;
}
