import type { HttpResponse } from '../common/http-exchange.js';
import { STRING_LIMIT_BYTES } from '../common/string-limit.js';
import { AnswerBlocks } from './answer-blocks.js';
import { isEventStream } from './answer-head.js';
import type { AnswerHead } from './answer-head.js';
import type { AnswerTaker } from './attempt.js';
import { EMPTY } from './empty.js';
import { interruptionEvent, isResponses, LineEnds, SequenceNumbers } from './interruption.js';
import { JsonMeter } from './json-meter.js';
import { NoMeter } from './meter.js';
import type { Meter } from './meter.js';
import type { ProxiedRequest } from './proxied-request.js';
import { proxyRefusal } from './proxy-error.js';
import { StreamMeter } from './stream-meter.js';
import { headersToClient, idHeaders } from './wire-headers.js';

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

/** Passes one answer on to the client, in the pieces in which it comes, and reads its usage. */
export class Relay implements AnswerTaker {
  meter: Meter = NOTHING_METERED;
  /** Whether usage was asked for in the client's stead, who does not get the event that answers it. */
  dropsUsage = false;
  hasBegun = false;
  /** Of an answer that its meter keeps until the end. */
  private blocks?: AnswerBlocks;
  private answer: AnswerHead;
  private isStream = false;
  private isWaiting = false;
  /** How many bytes of a body with a known length are yet to come. */
  private bytesLeft = Infinity;
  /** What completes a body with a known length: the client takes it for the end. */
  private last: Buffer | string = EMPTY;
  /** Of an event stream. */
  private lineEnds?: LineEnds;
  /** Of a stream of OpenAI's Responses. */
  private sequence?: SequenceNumbers;

  constructor(
    private readonly request: ProxiedRequest,
    private readonly response: HttpResponse,
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
    this.dropsUsage &&= this.isStream;
    if (!this.isStream) {
      if (typeof answer.framing === 'number') this.bytesLeft = answer.framing;
      return;
    }
    this.lineEnds = new LineEnds();
    if (isResponses(this.request.path)) this.sequence = new SequenceNumbers();
    this.events.streamBegan();
  }

  /**
   * Who has all the bytes that were announced takes the answer for complete. Its record has to be in the journal by then,
   * whatever becomes of this process: so the last bytes are held until {@link end}. Where no length was announced, the
   * end is what `response.end` writes, behind the record in any case.
   */
  data(chunk: Buffer): void {
    const completes = chunk.length === this.bytesLeft;
    if (completes && chunk.length <= STRING_LIMIT_BYTES) this.complete(chunk);
    else this.write(this.meter.pass(this.blocks?.copy(chunk) ?? Buffer.from(chunk)));
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
      this.response.end(this.last, 'latin1', this.blocks?.whenSent);
    });
  }

  /** The client is not to take what it has for a whole answer: the connection ends without an end of the body. */
  cut(): void {
    this.events.interrupted(() => {
      const { response, request } = this;
      if (!this.isStream || this.answer.encoded || response.destroyed) {
        setImmediate(() => breakOff(response)); // behind what was written in this turn of the event loop
        return;
      }
      if (!this.hasBegun) this.begin();
      const { body } = proxyRefusal('stream_interrupted', request.id);
      const event = this.lineEnds!.separator + interruptionEvent(request.path, body, this.sequence?.next);
      response.write(event, () => response.socket?.destroySoon());
    });
  }

  private meterFor({ status, contentType, encoded }: AnswerHead): Meter {
    if (status >= 300 || encoded) return new NoMeter();
    if (this.isStream) return new StreamMeter(this.dropsUsage);
    return contentType.startsWith('application/json') ? new JsonMeter() : new NoMeter();
  }

  private begin(): void {
    this.hasBegun = true;
    this.request.dropBody(); // there is no way back to another upstream
    const headers = headersToClient(this.answer.headers);
    headers.push(...idHeaders(this.request.id));
    const kept = this.isStream ? withoutLength(headers) : headers;
    this.response.writeHead(this.answer.status, besideThoseOf(this.response, kept));
  }

  /**
   * Holds it as text, which goes out in one write with the head where nothing has gone out yet.
   * @param chunk is looked at by the meter once more at the end, which is told before anything else is read
   */
  private complete(chunk: Buffer): void {
    this.meter.pass(chunk);
    this.last = chunk.toString('latin1');
    this.bytesLeft = 0;
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
    this.sequence?.passed(chunk);
    if (this.response.write(chunk) || this.isWaiting) return;
    this.isWaiting = true;
    this.events.pause();
    this.response.once('drain', () => {
      this.isWaiting = false;
      this.events.resume();
    });
  }
}

/**
 * Where headers were set on a response of Node's (for CORS), it keeps the last one of each name: then they are said once,
 * with all values (RFC 9110, section 5.3).
 */
function besideThoseOf(response: HttpResponse, headers: string[]): string[] {
  if (!response.getHeaders) return headers;
  const set = Object.entries(response.getHeaders());
  if (set.length === 0) return headers;
  const values = new Map(set.map(([name, value]) => [name, [String(value)]]));
  for (let i = 0; i < headers.length; i += 2) {
    const [name, value] = [headers[i]!, headers[i + 1]!];
    values.set(name, [...(values.get(name) ?? []), value]);
  }
  return [...values].flatMap(([name, all]) => [name, all.join(', ')]);
}

/** In HTTP/1.0 the end of the connection may be that of the body: only a reset tells that it is not. */
function breakOff(response: HttpResponse): void {
  if (response.req.httpVersion === '1.0') response.socket?.resetAndDestroy();
  response.destroy();
}

/** The length is another one when an event is left out, or one is added that says that the rest is missing. */
function withoutLength(headers: string[]): string[] {
  const at = headers.indexOf('content-length');
  return at < 0 ? headers : headers.toSpliced(at, 2);
}
