import type { UsageSource } from '../../usage/record/usage-record.js';
import { asObject } from '../json/json-object.js';
import type { JsonObject } from '../json/json-object.js';
import { toMeteredUsage } from '../metering/meter.js';
import type { MeteredUsage } from '../metering/meter.js';
import { mergeUsage } from '../metering/merge-usage.js';
import { addTokenCounts, NO_TOKENS } from '../metering/token-counts.js';
import type { TokenCounts } from '../metering/token-counts.js';

/** Longer messages are relayed without being parsed: events about responses are small. */
const PARSED_BYTES = 1_048_576;
const START = 'response.created';
/** Ends of a response: in OpenAI's Realtime API the first one, in its Responses API the others. */
const ENDS = ['response.done', 'response.completed', 'response.incomplete', 'response.failed'];
const MARKS = [START, ...ENDS].map((type) => Buffer.from(`"${type}"`));

/** Event of an upstream about a response. */
export interface ResponseEvent {
  readonly kind: 'start' | 'end';
  /** Whether the response has begun with this event. An upstream may leave out the start. */
  readonly isFirst: boolean;
  /** Usage of the response that ended. */
  readonly usage: MeteredUsage;
  /** Model of the response, if it is named. */
  readonly model: string | null;
}

/** Reads the usage of the responses that pass through one WebSocket. Never throws, whatever the messages contain. */
export class ConnectionMeter {
  private tokens: TokenCounts = NO_TOKENS;
  private source: UsageSource = 'none';
  private openResponses = 0;
  /** Number of responses that began. */
  responses = 0;

  /** Whether a response has begun and not ended. */
  get isResponding(): boolean {
    return this.openResponses > 0;
  }

  /** Usage of all responses. */
  get usage(): MeteredUsage {
    return { tokens: this.tokens, source: this.isResponding ? 'partial' : this.source };
  }

  /** @param provider provider of the upstream @returns undefined for other messages */
  read(message: Buffer, provider: string): ResponseEvent | undefined {
    if (message.length > PARSED_BYTES || !MARKS.some((mark) => message.includes(mark))) return undefined;
    const event = parseObject(message);
    const kind = kindOf(event?.type);
    if (!kind) return undefined;
    const response = asObject(event!.response) ?? {};
    const usage = toMeteredUsage(mergeUsage(undefined, asObject(response.usage) ?? {}), provider, true);
    const isFirst = this.count(kind, usage);
    return { kind, isFirst, usage, model: typeof response.model === 'string' ? response.model : null };
  }

  /** @returns whether a response has begun */
  private count(kind: ResponseEvent['kind'], { tokens, source }: MeteredUsage): boolean {
    const isFirst = kind === 'start' || !this.isResponding;
    if (isFirst) {
      this.openResponses++;
      this.responses++;
    }
    if (kind === 'start') return isFirst;
    this.openResponses--;
    this.tokens = addTokenCounts(this.tokens, tokens);
    if (source !== 'none') this.source = source;
    return isFirst;
  }
}

function kindOf(type: unknown): ResponseEvent['kind'] | undefined {
  if (type === START) return 'start';
  return ENDS.includes(type as string) ? 'end' : undefined;
}

function parseObject(message: Buffer): JsonObject | undefined {
  try {
    return asObject(JSON.parse(message.toString('utf8')));
  } catch {
    return undefined;
  }
}
