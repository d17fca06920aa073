import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions.js';
import { errorMessage } from '../../common/logging/error-message.js';

const RECONNECT_DELAY_MS = 250;
const QUERY_TIMEOUT_MS = 5_000;
/** Age after which the row of a crashed replica is removed. */
const REMOVED_AFTER = `interval '1 hour'`;

const HEARTBEAT = `
  INSERT INTO replicas (id, seen_at) VALUES ($1, clock_timestamp())
  ON CONFLICT (id) DO UPDATE SET seen_at = clock_timestamp()`;

/** Change of something that replicas may have cached. Must be small: a notification holds 8,000 bytes. */
export interface Invalidation {
  readonly topic: string;
  readonly [member: string]: string | number | undefined;
}

/** Notifications of the listening connection. */
export interface ReplicaEvents {
  /** The connection listens again. Earlier invalidations may have been missed. */
  onConnected(): void;
  /** @param beganAt time as `performance.now()` */
  onHeartbeat(beganAt: number): void;
  onInvalidation(id: string, payload: Invalidation): void;
  onAcknowledgement(id: string, replica: string): void;
}

/** Connection on which a replica listens to the other replicas. Reconnects until it is stopped. */
export class ReplicaListener {
  static readonly CHANNEL = 'mintkeep_invalidations';
  private static readonly ACKNOWLEDGEMENTS = 'mintkeep_acknowledgements';

  private readonly logger = new Logger('Replica');
  private readonly stopping = new AbortController();
  private client?: pg.Client;
  private readonly unacknowledged: string[] = [];
  private isAcknowledging = false;
  private running?: Promise<void>;

  constructor(
    private readonly dataSource: DataSource,
    private readonly replica: string,
    private readonly heartbeatIntervalMs: number,
    private readonly events: ReplicaEvents,
  ) {}

  /** Resolves after the first attempt to listen, successful or not. */
  start(): Promise<void> {
    return new Promise((resolve) => {
      this.running = this.run(resolve);
    });
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  /** Acknowledges an invalidation, in one statement with others that arrive meanwhile. */
  acknowledge(id: string): void {
    this.unacknowledged.push(id);
    if (this.isAcknowledging) return;
    this.isAcknowledging = true;
    setImmediate(() => void this.sendAcknowledgements());
  }

  private async run(onAttempt: () => void): Promise<void> {
    while (!this.stopping.signal.aborted) {
      try {
        this.client = await this.connect();
        this.events.onConnected();
        await this.beat(this.client);
        onAttempt();
        await this.keepBeating(this.client);
      } catch (error) {
        this.logger.warn({ reason: errorMessage(error) }, 'the listening connection was lost: reconnecting');
      }
      onAttempt();
      await this.disconnect();
      await this.wait(RECONNECT_DELAY_MS);
    }
  }

  private async connect(): Promise<pg.Client> {
    const { url } = this.dataSource.options as PostgresDataSourceOptions;
    const client = new pg.Client({
      connectionString: url,
      application_name: 'mintkeep-replica',
      connectionTimeoutMillis: QUERY_TIMEOUT_MS,
      query_timeout: QUERY_TIMEOUT_MS,
      keepAlive: true,
    });
    client.on('error', () => undefined); // the next heartbeat fails and reconnects
    client.on('notification', ({ channel, payload = '' }) => this.onNotification(channel, payload));
    try {
      await this.listen(client);
      return client;
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
  }

  private async listen(client: pg.Client): Promise<void> {
    await client.connect();
    await client.query(`LISTEN ${ReplicaListener.CHANNEL}`);
    await client.query(`LISTEN ${ReplicaListener.ACKNOWLEDGEMENTS}`);
    await client.query(`DELETE FROM replicas WHERE seen_at < clock_timestamp() - ${REMOVED_AFTER}`);
  }

  private async keepBeating(client: pg.Client): Promise<void> {
    for (;;) {
      await this.wait(this.heartbeatIntervalMs);
      if (this.stopping.signal.aborted) return;
      await this.beat(client);
    }
  }

  private async beat(client: pg.Client): Promise<void> {
    const beganAt = performance.now();
    await client.query(HEARTBEAT, [this.replica]);
    this.events.onHeartbeat(beganAt);
  }

  private onNotification(channel: string, payload: string): void {
    if (channel === ReplicaListener.CHANNEL) {
      const notice = parseNotice(payload);
      if (notice) this.events.onInvalidation(notice.id, notice.invalidation);
      else this.logger.warn('ignored a notification that is not from mintkeep');
    } else {
      const [replica = '', ...ids] = payload.split(' ');
      for (const id of ids) this.events.onAcknowledgement(id, replica);
    }
  }

  /** Sends one statement at a time, because pg deprecates queued statements. */
  private async sendAcknowledgements(): Promise<void> {
    while (this.unacknowledged.length > 0) {
      const ids = this.unacknowledged.splice(0, 100); // 100 UUIDs fit into the 8,000 bytes of a notification
      const payload = [this.replica, ...ids].join(' ');
      await this.client
        ?.query('SELECT pg_notify($1, $2)', [ReplicaListener.ACKNOWLEDGEMENTS, payload])
        .catch(() => undefined); // the other replica waits at most for the end of this lease
    }
    this.isAcknowledging = false;
  }

  private async disconnect(): Promise<void> {
    const { client } = this;
    this.client = undefined;
    if (this.stopping.signal.aborted) {
      await client?.query('DELETE FROM replicas WHERE id = $1', [this.replica]).catch(() => undefined);
    }
    await client?.end().catch(() => undefined);
  }

  private async wait(milliseconds: number): Promise<void> {
    await pause(milliseconds, undefined, { signal: this.stopping.signal, ref: false }).catch(() => undefined);
  }
}

interface Notice {
  readonly id: string;
  readonly invalidation: Invalidation;
}

/** Parses a notification. Undefined if it is malformed: every role of the cluster may send notifications. */
function parseNotice(payload: string): Notice | undefined {
  try {
    const { id, invalidation } = JSON.parse(payload) as Partial<Notice>;
    return id !== undefined && typeof invalidation === 'object' ? { id, invalidation } : undefined;
  } catch {
    return undefined;
  }
}
