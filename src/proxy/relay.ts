import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { AnswerBlocks } from './answer-blocks.js';
import type { AnswerHead } from './answer-head.js';
import { isEventStream } from './attempt.js';
import type { AnswerTaker } from './attempt.js';
import { writeAtEndOfTurn } from './end-of-turn.js';
import type { Writer } from './end-of-turn.js';
import { interruptionEvent, LineEnds } from './interruption.js';
import { JsonMeter } from './json-meter.js';
import { EMPTY, NoMeter } from './meter.js';
import type { Meter } from './meter.js';
import type { ProxiedRequest } from './proxied-request.js';
import { proxyRefusal } from './proxy-error.js';
import { StreamMeter } from './stream-meter.js';
import { headersToClient } from './wire-headers.js';

/** What happens to an answer while it is passed on. */
export interface RelayEvents {
  /** The client does not keep up: nothing more is to come until {@link resume}. */
  pause(): void;
  resume(): void;
  /** The answer is an event stream. */
  streamBegan(): void;
  /** All of the answer is here. `deliver` sends the end of it, once the request is recorded. */
  completed(deliver: () => void): void;
  /** The rest of the answer is missing. `deliver` tells the client. */
  interrupted(deliver: () => void): void;
}

const NOTHING_METERED: Meter = Object.freeze(new NoMeter());

/** Up to here, copying costs less than a second buffer to write. */
const JOINED_LIMIT_BYTES = 16_384;

/** Passes one answer on to the client, in the pieces in which it comes, and reads its usage. */
export class Relay implements AnswerTaker, Writer {
  meter: Meter = NOTHING_METERED;
  /** Of an answer that its meter keeps until the end. */
  private blocks?: AnswerBlocks;
  private answer: AnswerHead;
  private isStream = false;
  private hasBegun = false;
  private isWaiting = false;
  /** Where what was written waits for the end of this turn. */
  private corked?: Socket;
  /** How many bytes of a body with a known length are yet to come. */
  private bytesLeft = Infinity;
  /** What completes a body with a known length: the client takes it for the end. */
  private last = EMPTY;
  /** Of an event stream. */
  private lineEnds?: LineEnds;

  constructor(
    private readonly request: ProxiedRequest,
    private readonly response: ServerResponse,
    private readonly events: RelayEvents,
  ) {}

  get isEventStream(): boolean {
    return this.isStream;
  }

  head(answer: AnswerHead): void {
    this.answer = answer;
    this.isStream = isEventStream(answer.contentType);
    this.meter = this.meterFor(answer);
    if (this.meter instanceof JsonMeter) this.blocks = new AnswerBlocks();
    if (typeof answer.framing === 'number' && !this.dropsUsage) this.bytesLeft = answer.framing;
    if (!this.isStream) return;
    this.lineEnds = new LineEnds();
    this.events.streamBegan();
  }

  data(chunk: Buffer): void {
    this.write(this.meter.pass(this.blocks?.copy(chunk) ?? Buffer.from(chunk)));
  }

  settled(): void {
    if (this.hasBegun || this.response.destroyed) return;
    this.begin();
    this.response.flushHeaders();
  }

  end(): void {
    this.write(this.meter.rest());
    this.events.completed(() => {
      if (this.response.destroyed) return;
      if (!this.hasBegun) this.begin();
      this.writeLast();
      this.response.end(this.blocks?.whenSent);
    });
  }

  /** The client is not to take what it has for a whole answer: the connection ends without an end of the body. */
  cut(): void {
    this.events.interrupted(() => {
      const { response, request } = this;
      this.writeNow();
      if (!this.isStream || this.bytesLeft !== Infinity || response.destroyed) {
        response.destroy();
        return;
      }
      if (!this.hasBegun) this.begin();
      const { body } = proxyRefusal('stream_interrupted', request.id);
      const event = this.lineEnds!.separator + interruptionEvent(request.path, body);
      response.write(event, () => response.socket?.destroySoon());
    });
  }

  writeNow(): void {
    this.corked?.uncork();
    this.corked = undefined;
  }

  private get dropsUsage(): boolean {
    return this.isStream && this.request.fields.usageAdded;
  }

  private meterFor({ status, contentType, encoded }: AnswerHead): Meter {
    if (status >= 300 || encoded) return new NoMeter();
    if (this.isStream) return new StreamMeter(this.dropsUsage);
    return contentType.startsWith('application/json') ? new JsonMeter() : new NoMeter();
  }

  private begin(): void {
    this.hasBegun = true;
    const headers = headersToClient(this.answer.headers);
    headers.push('x-request-id', this.request.id, 'request-id', this.request.id);
    const kept = this.dropsUsage ? withoutLength(headers) : headers;
    this.response.writeHead(this.answer.status, kept);
  }

  /** With the head, where that is to be sent: as one string, to which `end` would add an empty one. */
  private writeLast(): void {
    const { response, last } = this;
    if (last.length === 0) return;
    response.socket?.cork();
    // In Latin-1, every byte is a character.
    if (last.length <= JOINED_LIMIT_BYTES) response.write(last.toString('latin1'), 'latin1');
    else response.write(last);
    response.socket?.uncork();
  }

  /** The socket, not the response: that of newer versions of Node keeps chunks to itself. */
  private cork(): void {
    const { socket } = this.response;
    if (this.corked || !socket) return;
    this.corked = socket;
    socket.cork();
    writeAtEndOfTurn(this);
  }

  private write(chunk: Buffer): void {
    if (chunk.length === 0 || this.response.destroyed) return;
    this.bytesLeft -= chunk.length;
    if (this.bytesLeft === 0) {
      this.last = chunk;
      return;
    }
    if (!this.hasBegun) this.begin();
    this.lineEnds?.passed(chunk);
    this.cork();
    if (this.response.write(chunk) || this.isWaiting) return;
    this.isWaiting = true;
    this.events.pause();
    this.response.once('drain', () => {
      this.isWaiting = false;
      this.events.resume();
    });
  }
}

/** The length is another one when an event is left out. */
function withoutLength(headers: string[]): string[] {
  const at = headers.indexOf('content-length');
  return at < 0 ? headers : headers.toSpliced(at, 2);
}
