import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from '../support/connection.js';
import type { Route } from './gateway.js';
import { requestBytes } from './requests.js';
import { CONNECTIONS } from './wrk.js';

const PREFIX = 'bench-';
const DIGITS = 9;
const RETRY_MS = 100;
const POLL_MS = 50;

/** Sends requests with unique ids at a fixed rate, and waits while the service is down. */
export class CountedLoad {
  /** Ids of the requests with a complete response of status 200. */
  readonly completed = new Set<string>();
  /** Number of requests with another status. */
  rejected = 0;
  /** Number of requests without a complete response. */
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
    this.template = requestBytes(route, 'plain', { 'X-Request-Id': requestId(0) });
    this.idAt = this.template.indexOf(requestId(0));
  }

  readonly hasSent = (id: string): boolean => {
    const number = Number(id.slice(PREFIX.length));
    return requestId(number) === id && number >= 1 && number <= this.sent;
  };

  /** Resolves when every request has ended. */
  async run(): Promise<void> {
    try {
      await Promise.all(Array.from({ length: CONNECTIONS }, () => this.work()));
    } finally {
      this.ended = true;
    }
  }

  /** Resolves when a share of all requests is complete. @throws Error if the load ends before */
  async reached(share: number): Promise<void> {
    while (this.completed.size < share * this.requests) {
      if (this.ended) throw new Error(`${this.rejected} requests were rejected and ${this.failed} failed`);
      await delay(POLL_MS);
    }
  }

  private async work(): Promise<void> {
    let connection = await this.connect();
    let dueAt = performance.now();
    while (this.sent < this.requests) {
      const id = requestId(++this.sent);
      dueAt = Math.max(dueAt + (CONNECTIONS / this.perSecond) * 1_000, performance.now() - RETRY_MS);
      await delay(Math.max(0, dueAt - performance.now()));
      if (!(await this.sendOne(connection, id))) connection = await this.connect();
    }
    connection.close();
  }

  /** Returns whether the connection can be used again. */
  private async sendOne(connection: Connection, id: string): Promise<boolean> {
    const request = Buffer.from(this.template);
    request.write(id, this.idAt);
    try {
      const { status } = await connection.send(request);
      if (status === 200) this.completed.add(id);
      else this.rejected++;
      return true;
    } catch {
      this.failed++;
      return false;
    }
  }

  /** Retries without a limit: the service is being restarted. */
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

function requestId(number: number): string {
  return PREFIX + String(number).padStart(DIGITS, '0');
}
