import { Injectable } from '@nestjs/common';
import type { Type } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { yielding } from './yielding.js';

/** Four times the time after which a call to object storage has failed. */
const YIELDING_FOR_MS = 20_000;

type Listener<E> = (event: E, transaction: EntityManager) => Promise<void>;

/**
 * For whoever locks rows: a bare transaction would wait for one that is held, with a connection and locks of its own,
 * as long as a statement may take. Documents alone have another way: `DocumentLock`.
 *
 * Other modules can take part. A module tells those that build on it of a change while the change is being made:
 * listeners work in its transaction, so that both happen or neither, and a listener that throws undoes the change.
 */
@Injectable()
export class Transactions {
  private readonly listeners = new Map<Type<object>, Listener<never>[]>();
  private readonly followUps = new WeakMap<EntityManager, (() => Promise<void>)[]>();

  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /**
   * Runs `work` in a transaction and then, once it is committed, what was left for {@link afterCommit}. Begins anew
   * where a row is held by others, as {@link yielding} does.
   * @throws QueryFailedError `lock_not_available` when they hold it for too long
   */
  run<T>(work: (transaction: EntityManager) => Promise<T>): Promise<T> {
    return yielding((lockTimeoutMs) => this.attempt(work, lockTimeoutMs), YIELDING_FOR_MS);
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
