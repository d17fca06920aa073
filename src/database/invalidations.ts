import { randomUUID } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { LRUCache } from 'lru-cache';
import { DataSource } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { messagesOf } from '../common/messages-of.js';
import { ReplicaListener } from './replica-listener.js';
import { Transactions } from './transactions.js';

/** How long after the beginning of a heartbeat a replica may believe its caches. */
export const LEASE_MS = 2_000;
const HEARTBEAT_INTERVAL_MS = 500;

/** Something that replicas may have cached and that has changed. Small: PostgreSQL carries 8,000 bytes. */
export interface Invalidation {
  readonly topic: string;
  readonly [member: string]: string | number | undefined;
}

type Listener = (invalidation: Invalidation) => void;

/**
 * Tells every replica what it must no longer believe, and knows when all of them have heard it.
 *
 * A replica believes its caches only while it holds a lease: for 2 s from the beginning of its last heartbeat
 * on the connection on which it listens. PostgreSQL delivers what was committed before a heartbeat along with
 * its answer, so a lease that began after a change knows of the change. Who makes a change waits, once it is
 * committed, until all replicas with a lease have acknowledged it, or until any lease that began before it is
 * over. What is answered after that is answered by replicas that know.
 */
@Injectable()
export class Invalidations implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(Invalidations.name);
  private readonly replica = randomUUID();
  private readonly listeners: Listener[] = [];
  private readonly resets: (() => void)[] = [];
  private readonly acknowledged = new LRUCache<string, Acknowledgements>({ max: 10_000, ttl: 30 * LEASE_MS });
  private readonly connection: ReplicaListener;
  private leaseEndsAt = -Infinity;
  private heartbeatBeganAt = -Infinity;

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly transactions: Transactions,
  ) {
    this.connection = new ReplicaListener(dataSource, this.replica, HEARTBEAT_INTERVAL_MS, {
      connected: () => this.reset(),
      heartbeat: (beganAt) => {
        this.heartbeatBeganAt = beganAt;
        this.leaseEndsAt = beganAt + LEASE_MS;
      },
      invalidation: (id, payload) => this.receive(id, payload),
      acknowledgement: (id, replica) => this.acknowledged.get(id)?.add(replica),
    });
  }

  /** Whether caches may be believed at this moment. */
  get leased(): boolean {
    return performance.now() < this.leaseEndsAt;
  }

  /** When the database was last heard of, as `performance.now()` has it. */
  get heardAt(): number {
    return this.heartbeatBeganAt;
  }

  /** @param forget drops a cache as a whole: what happened meanwhile is not known */
  on(listener: Listener, forget: () => void): void {
    this.listeners.push(listener);
    this.resets.push(forget);
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.connection.start();
  }

  async onApplicationShutdown(): Promise<void> {
    this.leaseEndsAt = -Infinity;
    await this.connection.stop();
  }

  /** Takes effect with the transaction; `Transactions.run` returns when all replicas know. */
  async publish(invalidation: Invalidation, transaction: EntityManager): Promise<void> {
    const id = randomUUID();
    const acknowledgements = new Acknowledgements();
    this.acknowledged.set(id, acknowledgements);
    this.transactions.afterCommit(transaction, async () => {
      this.dispatch(invalidation);
      await this.allKnow(acknowledgements);
      this.acknowledged.delete(id);
    });
    await transaction.query('SELECT pg_notify($1, $2)', [
      ReplicaListener.CHANNEL,
      JSON.stringify({ id, invalidation }),
    ]);
  }

  private async allKnow(acknowledgements: Acknowledgements): Promise<void> {
    const leasesAreOver = AbortSignal.timeout(LEASE_MS);
    try {
      const rows = await this.dataSource.query<{ id: string }[]>(
        `SELECT id FROM replicas WHERE seen_at > clock_timestamp() - interval '${LEASE_MS} milliseconds'`,
      );
      await acknowledgements.of(
        rows.map(({ id }) => id),
        leasesAreOver,
      );
    } catch (error) {
      this.logger.warn({ reason: messagesOf(error) }, 'replicas cannot be asked: waiting for their leases');
      await acknowledgements.of(['nobody'], leasesAreOver);
    }
  }

  private receive(id: string, invalidation: Invalidation): void {
    this.dispatch(invalidation);
    this.connection.acknowledge(id);
  }

  private dispatch(invalidation: Invalidation): void {
    for (const listener of this.listeners) listener(invalidation);
  }

  private reset(): void {
    this.leaseEndsAt = -Infinity;
    for (const forget of this.resets) forget();
  }
}

/** Which replicas have acknowledged one invalidation. */
class Acknowledgements {
  private readonly replicas = new Set<string>();
  private changed?: () => void;

  add(replica: string): void {
    this.replicas.add(replica);
    this.changed?.();
  }

  /** Resolves when all of them have, or when it no longer matters. */
  of(replicas: readonly string[], unlessAborted: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.changed = () => {
        if (replicas.every((replica) => this.replicas.has(replica))) resolve();
      };
      if (unlessAborted.aborted) resolve(); // then there is no event any more
      unlessAborted.addEventListener('abort', () => resolve(), { once: true });
      this.changed();
    });
  }
}
