import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Gate } from '../common/gate.js';

/** A first name server that is away costs less. */
const PROMPT_MS = 3_000;
/** Whoever asks has given up by then, or soon will. */
const TURN_WITHIN_MS = 5_000;
const REMEMBERED_NAMES = 10_000;

const THREADS = Number(process.env.UV_THREADPOOL_SIZE) || 4;

/** @param atOnce how many names are looked up at a time */
export function turnsOf(atOnce: number): Gate {
  const refusal = () => Object.assign(new Error('too many names wait to be resolved'), { code: 'EAI_AGAIN' });
  return new Gate(atOnce, TURN_WITHIN_MS, refusal);
}

/**
 * The system's name resolution: name servers, `/etc/hosts` and all. It has few threads, and no end before that of the
 * name server's patience, ten seconds or more. So names that were not answered promptly the last time, or were never
 * asked for, take turns: upstreams with a name that nobody answers for do not keep others from their connections. Whose
 * turn does not come in time is not looked up at all.
 */
@Injectable()
export class HostResolver {
  private readonly prompt = new LRUCache<string, true>({ max: REMEMBERED_NAMES });
  private readonly running = new Map<string, Promise<LookupAddress[]>>();
  /** libuv gives half of its threads to lookups: half of these stay free for known names. */
  protected readonly turns: Gate = turnsOf(Math.max(1, Math.floor(THREADS / 4)));

  /** @throws Error with `code` when the name does not resolve */
  resolve(hostname: string): Promise<LookupAddress[]> {
    let resolving = this.running.get(hostname);
    if (!resolving) {
      const isKnown = this.prompt.get(hostname) === true;
      resolving = isKnown ? this.timed(hostname) : this.inTurn(hostname);
      this.running.set(hostname, resolving);
      const over = () => this.running.delete(hostname);
      resolving.then(over, over);
    }
    return resolving;
  }

  /** What asks the system. */
  protected look(hostname: string): Promise<LookupAddress[]> {
    return lookup(hostname, { all: true, verbatim: true });
  }

  private async timed(hostname: string): Promise<LookupAddress[]> {
    const beganAt = performance.now();
    try {
      return await this.look(hostname);
    } finally {
      if (performance.now() - beganAt < PROMPT_MS) this.prompt.set(hostname, true);
      else this.prompt.delete(hostname);
    }
  }

  private inTurn(hostname: string): Promise<LookupAddress[]> {
    return this.turns.run(() => this.timed(hostname));
  }
}
