import { setTimeout as pause } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { Dispatcher } from 'undici';
import type { Ledger } from './ledger.js';
import type { Replica } from './replica.js';
import type { Timeline } from './timeline.js';

export interface Call {
  /** What it counts as. */
  readonly kind: string;
  readonly method: Dispatcher.HttpMethod;
  readonly path: string;
  /** A session or a key. */
  readonly bearer?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** Any of the two when left out. */
  readonly replica?: Replica;
  /** The answers that may be; every other one below 500 is a finding. */
  readonly expect: readonly number[];
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  /** The text as JSON; undefined when there is none. */
  readonly body: any; // eslint-disable-line @typescript-eslint/no-explicit-any -- bodies are what they are
}

const TIMEOUT_MS = 30_000;
const INSIST_MS = 120_000;
const INSIST_PAUSE_MS = 500;

/** Calls the replicas and is strict with their answers. */
export class Client {
  /** A connection for each call: one that a stopping replica closes idle is no answer that was lost. */
  private readonly connections = new Agent({ pipelining: 0 });

  constructor(
    readonly replicas: readonly Replica[],
    readonly timeline: Timeline,
    readonly ledger: Ledger,
  ) {}

  /** Undefined: it is not known whether it was done. */
  async send(call: Call): Promise<Answer | undefined> {
    const replica = call.replica ?? this.replicas[Math.floor(Math.random() * this.replicas.length)]!;
    const beganAt = performance.now();
    const response = await this.open(call, replica).catch((error: Error) =>
      this.broke(call, this.timeline.since(beganAt, ['kill', 'terminate'], replica), error),
    );
    if (!response) return undefined;
    const text = await response.body
      .text()
      .catch((error: Error) => this.broke(call, this.timeline.since(beganAt, ['kill'], replica), error));
    return text === undefined ? undefined : this.judge(call, beganAt, response.statusCode, text);
  }

  /**
   * Sends it again until it is known to be done.
   * @param afterwards what may also be answered when it may have been done before
   * @throws Error after two minutes
   */
  async insist(call: Call, afterwards: readonly number[] = []): Promise<Answer> {
    const deadline = performance.now() + INSIST_MS;
    let expect = call.expect;
    while (performance.now() < deadline) {
      const answer = await this.send({ ...call, expect });
      if (answer) return answer;
      expect = [...call.expect, ...afterwards];
      await pause(INSIST_PAUSE_MS);
    }
    throw new Error(`no answer for two minutes: ${call.kind}`);
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

  private broke({ kind }: Call, excused: boolean, error: Error): undefined {
    this.ledger.count(kind, 'broken');
    if (!excused || error.name === 'TimeoutError') this.ledger.find(`${kind}: broke: ${error.message}`);
  }

  private judge(call: Call, beganAt: number, status: number, text: string): Answer | undefined {
    const { ledger } = this;
    if (call.expect.includes(status)) {
      ledger.count(call.kind, 'answered');
      return { status, text, body: parsed(text) };
    }
    ledger.count(call.kind, 'refused');
    if (!this.isExcused(call, beganAt, status, text)) {
      ledger.find(`${call.kind}: ${call.method} ${call.path}: ${status} ${text.slice(0, 300)}`);
    }
    return undefined;
  }

  /** The proxy says what is wrong; everything else knows of the database and of object storage only. */
  private isExcused({ path }: Call, beganAt: number, status: number, text: string): boolean {
    if (path.startsWith('/v1/')) {
      return (
        status === 503 && text.includes('database_unavailable') && this.timeline.since(beganAt, ['postgres'])
      );
    }
    return (status === 500 || status === 503) && this.timeline.since(beganAt, ['postgres', 'store']);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
