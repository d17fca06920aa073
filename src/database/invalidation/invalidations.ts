import { randomUUID } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { LRUCache } from 'lru-cache';
import { DataSource } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { errorMessage } from '../../common/logging/error-message.js';
import { ReplicaListener } from './replica-listener.js';
import type { Invalidation } from './replica-listener.js';
import { Transactions } from '../transactions/transactions.js';

/** Duration of a lease, counted from the beginning of a heartbeat. */
export const LEASE_MS = 2_000;
const HEARTBEAT_INTERVAL_MS = 500;

type Listener = (invalidation: Invalidation) => void;

/**
 * Sends invalidations to all replicas, and waits until every replica has acknowledged them.
 *
 * A replica uses its caches only while it holds a lease: for 2 s from the beginning of its last heartbeat on the
 * listening connection. PostgreSQL delivers notifications committed before a heartbeat together with the response to
 * the heartbeat. A lease that began after a change therefore includes the change. After the commit, a change waits
 * until all replicas with a lease have acknowledged it, or until every earlier lease has ended. Later requests are
 * served by replicas that have received the invalidation.
 */
@Injectable()
export class Invalidations implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(Invalidations.name);
  private readonly replica = randomUUID();
  private readonly listeners: Listener[] = [];
  private readonly gapListeners: (() => void)[] = [];
  private readonly acknowledged = new LRUCache<string, Acknowledgements>({ max: 10_000, ttl: 30 * LEASE_MS });
  private readonly connection: ReplicaListener;
  private leaseEndsAt = -Infinity;
  private heartbeatBeganAt = -Infinity;

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly transactions: Transactions,
  ) {
    this.connection = new ReplicaListener(dataSource, this.replica, HEARTBEAT_INTERVAL_MS, {
      onConnected: () => this.reset(),
      onHeartbeat: (beganAt) => {
        this.heartbeatBeganAt = beganAt;
        this.leaseEndsAt = beganAt + LEASE_MS;
      },
      onInvalidation: (id, payload) => this.receive(id, payload),
      onAcknowledgement: (id, replica) => this.acknowledged.get(id)?.add(replica),
    });
  }

  /** Whether this replica may use its caches. */
  get hasLease(): boolean {
    return performance.now() < this.leaseEndsAt;
  }

  /** Beginning of the last successful heartbeat, as `performance.now()`. */
  get lastHeartbeatAt(): number {
    return this.heartbeatBeganAt;
  }

  /** @param onGap called when invalidations may have been missed */
  on(listener: Listener, onGap: () => void): void {
    this.listeners.push(listener);
    this.gapListeners.push(onGap);
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.connection.start();
  }

  async onApplicationShutdown(): Promise<void> {
    this.leaseEndsAt = -Infinity;
    await this.connection.stop();
  }

  /** Sends the invalidation with the commit. `Transactions.run` returns after all replicas have acknowledged it. */
  async publish(invalidation: Invalidation, transaction: EntityManager): Promise<void> {
    const id = randomUUID();
    const acknowledgements = new Acknowledgements();
    this.acknowledged.set(id, acknowledgements);
    this.transactions.afterCommit(transaction, async () => {
      this.dispatch(invalidation);
      await this.waitForReplicas(acknowledgements);
      this.acknowledged.delete(id);
    });
    await transaction.query('SELECT pg_notify($1, $2)', [
      ReplicaListener.CHANNEL,
      JSON.stringify({ id, invalidation }),
    ]);
  }

  private async waitForReplicas(acknowledgements: Acknowledgements): Promise<void> {
    const leasesEnded = AbortSignal.timeout(LEASE_MS);
    try {
      const rows = await this.dataSource.query<{ id: string }[]>(
        `SELECT id FROM replicas WHERE seen_at > clock_timestamp() - interval '${LEASE_MS} milliseconds'`,
      );
      await acknowledgements.waitFor(
        rows.map(({ id }) => id),
        leasesEnded,
      );
    } catch (error) {
      this.logger.warn(
        { reason: errorMessage(error) },
        'cannot read the list of replicas: waiting until their leases end',
      );
      await acknowledgements.waitFor(['unknown'], leasesEnded);
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
    for (const onGap of this.gapListeners) onGap();
  }
}

/** Replicas that have acknowledged one invalidation. */
class Acknowledgements {
  private readonly replicas = new Set<string>();
  private changed?: () => void;

  add(replica: string): void {
    this.replicas.add(replica);
    this.changed?.();
  }

  /** Resolves when all replicas have acknowledged, or when `signal` is aborted. */
  waitFor(replicas: readonly string[], signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.changed = () => {
        if (replicas.every((replica) => this.replicas.has(replica))) resolve();
      };
      if (signal.aborted) resolve(); // an aborted signal emits no event
      signal.addEventListener('abort', () => resolve(), { once: true });
      this.changed();
    });
  }
}
