import { Injectable } from '@nestjs/common';
import type { Type } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { LOCK_WAIT_MS, retryOnLockTimeout } from './retry-on-lock-timeout.js';

/** Four times the timeout of a call to object storage. */
const RETRY_PERIOD_MS = 20_000;

type Listener<E> = (event: E, transaction: EntityManager) => Promise<void>;

/**
 * Runs transactions that lock rows. A transaction without a lock timeout would hold its connection and its locks while
 * it waits, for as long as a statement may take. Documents use `DocumentLock` instead.
 *
 * Other modules can take part in a transaction. A module emits an event for a change, and the listeners of dependent
 * modules run in the same transaction. A listener that throws rolls the change back.
 */
@Injectable()
export class Transactions {
  private readonly listeners = new Map<Type<object>, Listener<never>[]>();
  private readonly followUps = new WeakMap<EntityManager, (() => Promise<void>)[]>();

  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /**
   * Runs `work` in a transaction, and after the commit the tasks of {@link afterCommit}. Retries after lock timeouts,
   * see {@link retryOnLockTimeout}.
   * @throws QueryFailedError `lock_not_available` when no attempt got all locks
   */
  run<T>(work: (transaction: EntityManager) => Promise<T>): Promise<T> {
    return retryOnLockTimeout((lockTimeoutMs) => this.attempt(work, lockTimeoutMs), RETRY_PERIOD_MS);
  }

  /** {@link run} without retries. @throws QueryFailedError `lock_not_available` when another transaction holds a lock */
  runOnce<T>(work: (transaction: EntityManager) => Promise<T>): Promise<T> {
    return this.attempt(work, LOCK_WAIT_MS.atFirst);
  }

  on<E extends object>(event: Type<E>, listener: Listener<E>): void {
    this.listeners.set(event, [...(this.listeners.get(event) ?? []), listener]);
  }

  /** Runs the listeners one after the other, because a transaction has one connection. */
  async emit(event: object, transaction: EntityManager): Promise<void> {
    const listeners = this.listeners.get(event.constructor as Type<object>) ?? [];
    for (const listener of listeners as Listener<object>[]) await listener(event, transaction);
  }

  /** Adds a task that runs after the commit, before {@link run} returns. */
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
