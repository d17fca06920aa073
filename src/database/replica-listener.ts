import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions.js';
import { messagesOf } from '../common/messages-of.js';
import type { Invalidation } from './invalidations.js';

const RECONNECT_DELAY_MS = 250;
const QUERY_TIMEOUT_MS = 5_000;
/** Rows of replicas that did not say good-bye. */
const FORGOTTEN_AFTER = `interval '1 hour'`;

const HEARTBEAT = `
  INSERT INTO replicas (id, seen_at) VALUES ($1, clock_timestamp())
  ON CONFLICT (id) DO UPDATE SET seen_at = clock_timestamp()`;

/** What the connection tells. */
export interface ReplicaEvents {
  /** It listens, anew: what happened before is not known. */
  connected(): void;
  /** @param beganAt as `performance.now()` has it */
  heartbeat(beganAt: number): void;
  invalidation(id: string, payload: Invalidation): void;
  acknowledgement(id: string, replica: string): void;
}

/** The one connection of a replica on which it listens to the others. Reconnects for as long as it takes. */
export class ReplicaListener {
  static readonly CHANNEL = 'mintkeep_invalidations';
  private static readonly ACKNOWLEDGEMENTS = 'mintkeep_acknowledgements';

  private readonly logger = new Logger('Replica');
  private readonly stopping = new AbortController();
  private client?: pg.Client;
  private readonly unacknowledged: string[] = [];
  private acknowledging = false;
  private running?: Promise<void>;

  constructor(
    private readonly dataSource: DataSource,
    private readonly replica: string,
    private readonly heartbeatIntervalMs: number,
    private readonly events: ReplicaEvents,
  ) {}

  /** Comes back when it listens for the first time, or could not. */
  start(): Promise<void> {
    return new Promise((resolve) => {
      this.running = this.run(resolve);
    });
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  /** Together with others that come until the last statement is through. */
  acknowledge(id: string): void {
    this.unacknowledged.push(id);
    if (this.acknowledging) return;
    this.acknowledging = true;
    setImmediate(() => void this.sendAcknowledgements());
  }

  private async run(attempted: () => void): Promise<void> {
    while (!this.stopping.signal.aborted) {
      try {
        this.client = await this.connect();
        this.events.connected();
        await this.beat(this.client);
        attempted();
        await this.keepBeating(this.client);
      } catch (error) {
        this.logger.warn({ reason: messagesOf(error) }, 'the listening connection is lost');
      }
      attempted();
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
    client.on('error', () => undefined); // the next heartbeat finds out
    client.on('notification', ({ channel, payload = '' }) => this.notified(channel, payload));
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
    await client.query(`DELETE FROM replicas WHERE seen_at < clock_timestamp() - ${FORGOTTEN_AFTER}`);
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
    this.events.heartbeat(beganAt);
  }

  private notified(channel: string, payload: string): void {
    if (channel === ReplicaListener.CHANNEL) {
      const notice = parseNotice(payload);
      if (notice) this.events.invalidation(notice.id, notice.invalidation);
      else this.logger.warn('a notification that is none of ours was ignored');
    } else {
      const [replica = '', ...ids] = payload.split(' ');
      for (const id of ids) this.events.acknowledgement(id, replica);
    }
  }

  /** One statement at a time: pg warns where more than one waits for another, and will refuse it. */
  private async sendAcknowledgements(): Promise<void> {
    while (this.unacknowledged.length > 0) {
      const ids = this.unacknowledged.splice(0, 100); // 100 UUIDs are far from the 8,000 bytes of a notification
      const payload = [this.replica, ...ids].join(' ');
      await this.client
        ?.query('SELECT pg_notify($1, $2)', [ReplicaListener.ACKNOWLEDGEMENTS, payload])
        .catch(() => undefined); // who waits for it waits no longer than our lease
    }
    this.acknowledging = false;
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

/** Every role of the cluster may notify. */
function parseNotice(payload: string): Notice | undefined {
  try {
    const { id, invalidation } = JSON.parse(payload) as Partial<Notice>;
    return id !== undefined && typeof invalidation === 'object' ? { id, invalidation } : undefined;
  } catch {
    return undefined;
  }
}
