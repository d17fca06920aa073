import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from '../support/connection.js';
import type { Route } from './gateway.js';
import { requestBytes } from './requests.js';
import { CONNECTIONS } from './wrk.js';

const PREFIX = 'bench-';
const DIGITS = 9;
const RETRY_MS = 100;
const POLL_MS = 50;

/** Requests that each have an id, at a fixed rate for as long as there is somebody to answer. */
export class CountedLoad {
  /** The ids of those that were answered with 200 to the last byte. */
  readonly completed = new Set<string>();
  /** How many were answered otherwise, ... */
  refused = 0;
  /** ... and not at all. */
  failed = 0;
  private sent = 0;
  private ended = false;
  private readonly template: Buffer;
  private readonly idAt: number;

  constructor(
    private readonly route: Route,
    private readonly requests: number,
    private readonly perSecond: number,
  ) {
    this.template = requestBytes(route, 'plain', { 'X-Request-Id': idOf(0) });
    this.idAt = this.template.indexOf(idOf(0));
  }

  readonly hasSent = (id: string): boolean => {
    const number = Number(id.slice(PREFIX.length));
    return idOf(number) === id && number >= 1 && number <= this.sent;
  };

  /** Resolves when all have been sent and have come to an end. */
  async run(): Promise<void> {
    try {
      await Promise.all(Array.from({ length: CONNECTIONS }, () => this.work()));
    } finally {
      this.ended = true;
    }
  }

  /** Resolves when this share of all requests is completed. @throws Error when that is not going to be */
  async reached(share: number): Promise<void> {
    while (this.completed.size < share * this.requests) {
      if (this.ended) throw new Error(`${this.refused} requests were refused, ${this.failed} not answered`);
      await delay(POLL_MS);
    }
  }

  private async work(): Promise<void> {
    let connection = await this.connect();
    let dueAt = performance.now();
    while (this.sent < this.requests) {
      const id = idOf(++this.sent);
      dueAt = Math.max(dueAt + (CONNECTIONS / this.perSecond) * 1_000, performance.now() - RETRY_MS);
      await delay(Math.max(0, dueAt - performance.now()));
      if (!(await this.sendOne(connection, id))) connection = await this.connect();
    }
    connection.close();
  }

  /** Says whether the connection is still good. */
  private async sendOne(connection: Connection, id: string): Promise<boolean> {
    const request = Buffer.from(this.template);
    request.write(id, this.idAt);
    try {
      const { status } = await connection.send(request);
      if (status === 200) this.completed.add(id);
      else this.refused++;
      return true;
    } catch {
      this.failed++;
      return false;
    }
  }

  /** The service is on its way, however often it is asked. */
  private async connect(): Promise<Connection> {
    for (;;) {
      try {
        return await Connection.open(this.route.port);
      } catch {
        await delay(RETRY_MS);
      }
    }
  }
}

function idOf(number: number): string {
  return PREFIX + String(number).padStart(DIGITS, '0');
}
