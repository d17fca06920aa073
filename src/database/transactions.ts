import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { Type } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { lockNotAvailable } from './constraints.js';

const LOCK_WAIT_MS = 50;
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

  /** Runs `work` in a transaction and then, once it is committed, what was left for {@link afterCommit}. */
  async run<T>(work: (transaction: EntityManager) => Promise<T>): Promise<T> {
    let followUps: (() => Promise<void>)[] = [];
    const result = await this.dataSource.transaction(async (transaction) => {
      const value = await work(transaction);
      followUps = this.followUps.get(transaction) ?? [];
      return value;
    });
    for (const followUp of followUps) await followUp();
    return result;
  }

  /**
   * {@link run} for work that may meet rows which others hold while they wait for object storage. To wait with locks
   * and a connection of one's own would make others wait with theirs, until there are none left: so all is let go
   * again and again, until a time in which those others must have given up.
   */
  async runYielding<T>(work: (transaction: EntityManager) => Promise<T>): Promise<T> {
    const patienceEndsAt = performance.now() + YIELDING_FOR_MS;
    for (;;) {
      const isLast = performance.now() > patienceEndsAt;
      try {
        return await this.run(async (transaction) => {
          if (!isLast) await transaction.query(`SET LOCAL lock_timeout = ${LOCK_WAIT_MS}`);
          return work(transaction);
        });
      } catch (error) {
        if (isLast || !lockNotAvailable(error)) throw error;
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
}
