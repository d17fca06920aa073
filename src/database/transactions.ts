import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { Type } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { lockNotAvailable } from './constraints.js';

/** Shorter than PostgreSQL takes to look for a deadlock: who waits so has let go before it is one. */
const LOCK_WAIT_MS = { atFirst: 50, later: 500 };
const YIELD_MS = 200;
/** Twice the time after which a call to object storage has failed. */
const YIELDING_FOR_MS = 10_000;

type Listener<E> = (event: E, transaction: EntityManager) => Promise<void>;

/**
 * Transactions that other modules can take part in. A module tells those that build on it of a change while
 * the change is being made: listeners work in its transaction, so that both happen or neither, and a
 * listener that throws undoes the change.
 */
@Injectable()
export class Transactions {
  private readonly listeners = new Map<Type<object>, Listener<never>[]>();
  private readonly followUps = new WeakMap<EntityManager, (() => Promise<void>)[]>();

  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /**
   * Runs `work` in a transaction and then, once it is committed, what was left for {@link afterCommit}.
   *
   * It may meet rows that others hold for long: while they wait for object storage, or delete a million documents. To
   * wait with locks and a connection of one's own would make others wait with theirs, until there are none left: so
   * all is let go again and again, and `work` begins anew. That goes on for twice the time in which those who wait for
   * object storage must have given up; longer waits then find a moment between them.
   * @throws QueryFailedError `lock_not_available` when there was none
   */
  async run<T>(work: (transaction: EntityManager) => Promise<T>): Promise<T> {
    const beganAt = performance.now();
    for (;;) {
      const elapsedMs = performance.now() - beganAt;
      const waitMs = elapsedMs < YIELDING_FOR_MS ? LOCK_WAIT_MS.atFirst : LOCK_WAIT_MS.later;
      try {
        return await this.attempt(work, waitMs);
      } catch (error) {
        if (elapsedMs > 2 * YIELDING_FOR_MS || !lockNotAvailable(error)) throw error;
      }
      await pause(YIELD_MS * (0.5 + Math.random()));
    }
  }

  on<E extends object>(event: Type<E>, listener: Listener<E>): void {
    this.listeners.set(event, [...(this.listeners.get(event) ?? []), listener]);
  }

  /** Runs the listeners one after the other: a transaction has one connection. */
  async emit(event: object, transaction: EntityManager): Promise<void> {
    const listeners = this.listeners.get(event.constructor as Type<object>) ?? [];
    for (const listener of listeners as Listener<object>[]) await listener(event, transaction);
  }

  /** Leaves something to be done when the transaction is committed, before {@link run} returns. */
  afterCommit(transaction: EntityManager, followUp: () => Promise<void>): void {
    this.followUps.set(transaction, [...(this.followUps.get(transaction) ?? []), followUp]);
  }

  private async attempt<T>(
    work: (transaction: EntityManager) => Promise<T>,
    lockTimeoutMs: number,
  ): Promise<T> {
    let followUps: (() => Promise<void>)[] = [];
    const result = await this.dataSource.transaction(async (transaction) => {
      await transaction.query(`SET LOCAL lock_timeout = ${lockTimeoutMs}`);
      const value = await work(transaction);
      followUps = this.followUps.get(transaction) ?? [];
      return value;
    });
    for (const followUp of followUps) await followUp();
    return result;
  }
}
