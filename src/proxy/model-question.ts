import { ANTHROPIC_VERSION } from '../upstreams/provider.js';
import type { AnswerHead } from './answer-head.js';
import { Attempt } from './attempt.js';
import type { AttemptError } from './attempt.js';
import type { ListBudget } from './list-budget.js';
import type { ListParser } from './list-parser.js';
import type { ListedModel } from './models.js';
import type { ProxiedRequest } from './proxied-request.js';
import { wireRequest } from './target.js';
import type { Target } from './target.js';
import type { UpstreamConnections } from './upstream-connections.js';

const TIMEOUT_MS = 3_000;
const ANSWER_LIMIT_BYTES = 4_194_304;
/** The greatest page that Anthropic has. */
const ANTHROPIC_PAGE = 'limit=1000';
const LIMIT = /[?&]limit=/;
/** Among the lines of a client who speaks Anthropic's dialect. */
export const ASKS_ANTHROPIC = /^anthropic-version:/m;
const NOT_OF_A_LIST = /^(?:accept|range|if-[^:]+|content-[^:]+):.*\r\n/gm;

/** The models of an upstream; undefined where no list came. */
export type Answered = ListedModel[] | undefined;

/** What one upstream is asked. */
export class ModelQuestion {
  readonly attempt: Attempt;
  wasAsked = false;
  /** An answer that breaks off is none. */
  readonly hasBegun = true;
  private chunks: Buffer[] = [];
  private bytes = 0;
  private isGiven = false;
  private resolve: (models: Answered) => void;

  constructor(
    request: ProxiedRequest,
    target: Target,
    connections: UpstreamConnections,
    private readonly budget: ListBudget,
    private readonly parser: ListParser,
  ) {
    const anthropic = target.provider === 'anthropic';
    const at = anthropic ? { ...target, path: withPage(target.path) } : target;
    const wire = wireRequest(at, 'GET', listLines(request.lines, anthropic), Buffer.alloc(0));
    const deadlines = { firstByteMs: TIMEOUT_MS, idleMs: TIMEOUT_MS };
    this.attempt = new Attempt(target, wire, deadlines, connections, {
      accepted: (attempt) => attempt.passTo(this),
      rejected: () => this.give(undefined),
    });
  }

  /** Undefined when no list comes. */
  ask(): Promise<Answered> {
    this.wasAsked = true;
    return new Promise((resolve) => {
      const deadline = setTimeout(() => this.give(undefined, 'timeout'), TIMEOUT_MS);
      this.resolve = (models) => {
        clearTimeout(deadline);
        resolve(models);
      };
      this.attempt.start();
    });
  }

  cancel(): void {
    if (this.wasAsked) this.give(undefined);
  }

  head(_head: AnswerHead): void {
    // status and body tell whether it is a list
  }

  data(chunk: Buffer): void {
    const isTooMuch = this.bytes + chunk.length > ANSWER_LIMIT_BYTES;
    if (isTooMuch || !this.budget.take(chunk.length)) return this.giveUp();
    this.bytes += chunk.length;
    this.chunks.push(Buffer.from(chunk));
  }

  settled(): void {
    // nothing is passed on before the end
  }

  end(): void {
    if (this.attempt.status !== 200) this.give(undefined);
    else void this.parser.parse(() => this.text).then((models) => this.give(models));
  }

  cut(): void {
    this.give(undefined);
  }

  private get text(): Buffer | undefined {
    return this.isGiven ? undefined : Buffer.concat(this.chunks);
  }

  /** What it holds makes room for others. */
  private giveUp(): void {
    this.give(undefined);
    this.budget.giveBack(this.bytes);
    this.bytes = 0;
    this.chunks = [];
  }

  /** @param error why there are none, where the upstream has not said anything yet */
  private give(models: Answered, error?: AttemptError): void {
    this.attempt.cancel(error);
    this.isGiven = true;
    this.resolve(models);
  }
}

/** The client's headers, but for those by which it might get another answer than a list, whole and in JSON. */
function listLines(lines: string, anthropic: boolean): string {
  const kept = lines.replace(NOT_OF_A_LIST, '');
  const saysVersion = !anthropic || ASKS_ANTHROPIC.test(lines);
  return `accept: application/json\r\n${saysVersion ? '' : `anthropic-version: ${ANTHROPIC_VERSION}\r\n`}${kept}`;
}

function withPage(path: string): string {
  if (LIMIT.test(path)) return path; // the client has asked for one
  return `${path}${path.includes('?') ? '&' : '?'}${ANTHROPIC_PAGE}`;
}
