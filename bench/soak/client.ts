import { setTimeout as pause } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { Dispatcher } from 'undici';
import type { Ledger } from './ledger.js';
import type { Replica } from './replica.js';
import type { Timeline } from './timeline.js';

export interface Call {
  /** Row of the report that counts the call. */
  readonly kind: string;
  readonly method: Dispatcher.HttpMethod;
  readonly path: string;
  /** Session or key. */
  readonly bearer?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** Defaults to a random replica. */
  readonly replica?: Replica;
  /** Allowed statuses. Any other status below 500 is a finding. */
  readonly expect: readonly number[];
}

export interface ApiResponse {
  readonly status: number;
  readonly text: string;
  /** The parsed text; undefined if it is not JSON. */
  readonly body: any; // eslint-disable-line @typescript-eslint/no-explicit-any -- the checks inspect any body
}

const TIMEOUT_MS = 30_000;
const INSIST_MS = 120_000;
const INSIST_PAUSE_MS = 500;

/** Calls the replicas and reports every unexpected response as a finding. */
export class Client {
  /** No connection is reused: an idle connection that a stopping replica closes would look like a lost response. */
  private readonly connections = new Agent({ pipelining: 0 });

  constructor(
    readonly replicas: readonly Replica[],
    readonly timeline: Timeline,
    readonly ledger: Ledger,
  ) {}

  /** Sends a call once. Undefined means that its effect is unknown. */
  async send(call: Call): Promise<ApiResponse | undefined> {
    const replica = call.replica ?? this.replicas[Math.floor(Math.random() * this.replicas.length)]!;
    const beganAt = performance.now();
    const response = await this.open(call, replica).catch((error: Error) =>
      this.recordBreak(call, this.timeline.wasDisturbed(beganAt, ['kill', 'terminate'], replica), error),
    );
    if (!response) return undefined;
    const text = await response.body
      .text()
      .catch((error: Error) =>
        this.recordBreak(call, this.timeline.wasDisturbed(beganAt, ['kill'], replica), error),
      );
    return text === undefined ? undefined : this.judge(call, beganAt, response.statusCode, text);
  }

  /**
   * Repeats a call until a response confirms it.
   * @param afterwards further statuses that are allowed if an earlier try may have succeeded
   * @throws Error after two minutes
   */
  async insist(call: Call, afterwards: readonly number[] = []): Promise<ApiResponse> {
    const deadline = performance.now() + INSIST_MS;
    let expect = call.expect;
    while (performance.now() < deadline) {
      const response = await this.send({ ...call, expect });
      if (response) return response;
      expect = [...call.expect, ...afterwards];
      await pause(INSIST_PAUSE_MS);
    }
    throw new Error(`${call.kind}: no response for two minutes`);
  }

  private open(call: Call, { port }: Replica): Promise<Dispatcher.ResponseData> {
    const { method, path, bearer, headers, body } = call;
    return request(`http://127.0.0.1:${port}${path}`, {
      method,
      dispatcher: this.connections,
      headers: {
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  }

  private recordBreak({ kind }: Call, excused: boolean, error: Error): undefined {
    this.ledger.count(kind, 'interrupted');
    if (!excused || error.name === 'TimeoutError')
      this.ledger.addFinding(`${kind}: connection broke: ${error.message}`);
  }

  private judge(call: Call, beganAt: number, status: number, text: string): ApiResponse | undefined {
    const { ledger } = this;
    if (call.expect.includes(status)) {
      ledger.count(call.kind, 'expected');
      return { status, text, body: parseJson(text) };
    }
    ledger.count(call.kind, 'failed');
    if (!this.isExcused(call, beganAt, status, text)) {
      ledger.addFinding(`${call.kind}: ${call.method} ${call.path}: ${status} ${text.slice(0, 300)}`);
    }
    return undefined;
  }

  /** Whether a disturbance explains a 5xx. The proxy names the cause; the other routes respond with a general error. */
  private isExcused({ path }: Call, beganAt: number, status: number, text: string): boolean {
    if (path.startsWith('/v1/')) {
      return (
        status === 503 &&
        text.includes('database_unavailable') &&
        this.timeline.wasDisturbed(beganAt, ['postgres'])
      );
    }
    return (status === 500 || status === 503) && this.timeline.wasDisturbed(beganAt, ['postgres', 'store']);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
