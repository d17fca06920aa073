import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { fewAtOnce } from '../common/few-at-once.js';
import type { HttpResponse } from '../common/http-exchange.js';
import { Attempt } from './attempt.js';
import type { AttemptError } from './attempt.js';
import type { AnswerHead } from './answer-head.js';
import { mergedModels, modelsIn } from './models.js';
import type { ListedModel } from './models.js';
import { prepareRefusal } from './prepared-refusal.js';
import type { ProxiedRequest } from './proxied-request.js';
import { wireRequest } from './target.js';
import type { Target } from './target.js';
import { UpstreamConnections } from './upstream-connections.js';
import type { Finish } from './usage-of.js';

const TIMEOUT_MS = 3_000;
/** Upstreams of one request: pools may be of any size. */
const ASKED_AT_ONCE = 50;
const ANSWER_LIMIT_BYTES = 4_194_304;
/** Of all lists at a time. Those of one owner leave room for others'. */
const OWNER_LIMIT_BYTES = 8_388_608;
const REPLICA_LIMIT_BYTES = 33_554_432;
/** Most lists together are smaller: so much there is always room for. */
const FREE_BYTES = 262_144;
const ANTHROPIC_VERSION = '2023-06-01';
/** The greatest page that Anthropic has. */
const ANTHROPIC_PAGE = 'limit=1000';
const LIMIT = /[?&]limit=/;

/** Whether this asks for the list that is made of all upstreams' lists. */
export function isModelList({ method, path }: ProxiedRequest): boolean {
  return method === 'GET' && (path === '/v1/models' || path === '/v1/models/');
}

/** The models of a pool: the lists of all its upstreams, one after the other, each id once. */
@Injectable()
export class ModelList {
  private readonly held: Held = { all: 0, byOwner: new Map() };

  constructor(private readonly connections: UpstreamConnections) {}

  answer(request: ProxiedRequest, response: HttpResponse, targets: readonly Target[], finish: Finish): void {
    const asksAnthropic = /^anthropic-version:/im.test(request.lines);
    const allowance = new Allowance(this.held, request.key.organizationId);
    const questions = targets.map((target) => new Question(request, target, this.connections, allowance));
    const closed = () => {
      for (const question of questions) question.cancel();
      const attempts = attemptsOf(questions);
      finish(request, { status: 499, outcome: 'client_gone', attempts, isStream: false });
    };
    request.answering = { closed };
    void askAll(questions, () => response.destroyed).then((lists) => {
      allowance.giveBack();
      if (response.destroyed) return;
      const attempts = attemptsOf(questions);
      const answered = lists.findIndex((list) => list !== undefined);
      const attempt = questions[answered]?.attempt;
      const body = attempt && textOf(lists, asksAnthropic);
      if (body === undefined) {
        const code = attempt ? 'upstream_error' : 'upstream_unreachable';
        const { status, send } = prepareRefusal(response, code, request.id);
        const last = attempts.at(-1);
        finish(
          request,
          { status, outcome: 'upstream_error', attempts, attempt: last, isStream: false },
          send,
        );
        return;
      }
      finish(request, { status: 200, outcome: 'ok', attempts, attempt, isStream: false }, () =>
        send(response, body, request.id),
      );
    });
  }
}

/** Undefined where a list is nested so deep that it can be read, but not be written. */
function textOf(lists: readonly Answered[], anthropic: boolean): string | undefined {
  const models = lists.flatMap((list) => list ?? []);
  try {
    return JSON.stringify(mergedModels(models, anthropic));
  } catch {
    return undefined;
  }
}

/** None any more where nobody waits for the answers. */
async function askAll(questions: readonly Question[], isOver: () => boolean): Promise<Answered[]> {
  const lists: Answered[] = questions.map(() => undefined);
  const ask = async ([i, question]: [number, Question]) => {
    lists[i] = await question.ask();
  };
  await fewAtOnce(questions.entries(), ASKED_AT_ONCE, ask, isOver);
  return lists;
}

function attemptsOf(questions: readonly Question[]): Attempt[] {
  return questions.filter(({ wasAsked }) => wasAsked).map(({ attempt }) => attempt);
}

function send(response: HttpResponse, body: string, requestId: string): void {
  if (response.destroyed) return;
  response.writeHead(200, [
    ...['content-type', 'application/json; charset=utf-8', 'content-length', String(Buffer.byteLength(body))],
    ...['x-request-id', requestId, 'request-id', requestId],
  ]);
  response.end(body);
}

/** The bytes of lists that are not merged yet. */
interface Held {
  all: number;
  readonly byOwner: Map<number, number>;
}

/** What one request may hold of them. */
class Allowance {
  private bytes = 0;

  constructor(
    private readonly held: Held,
    private readonly owner: number,
  ) {}

  /** @returns whether it may hold so much more */
  take(bytes: number): boolean {
    const ofOwner = this.held.byOwner.get(this.owner) ?? 0;
    const isFree = this.bytes + bytes <= FREE_BYTES;
    const hasRoom = ofOwner + bytes <= OWNER_LIMIT_BYTES && this.held.all + bytes <= REPLICA_LIMIT_BYTES;
    if (!isFree && !hasRoom) return false;
    this.count(bytes);
    return true;
  }

  giveBack(bytes = this.bytes): void {
    this.count(-bytes);
  }

  private count(bytes: number): void {
    const { held, owner } = this;
    const ofOwner = (held.byOwner.get(owner) ?? 0) + bytes;
    this.bytes += bytes;
    held.all += bytes;
    if (ofOwner > 0) held.byOwner.set(owner, ofOwner);
    else held.byOwner.delete(owner);
  }
}

/** The models of an upstream; undefined where no list came. */
type Answered = ListedModel[] | undefined;

let parsed = Promise.resolve<unknown>(undefined);

/** One list in a turn of the event loop: others have theirs between two. @param take gives the text, if it is still wanted */
function parseInTurn(take: () => Buffer | undefined): Promise<Answered> {
  const parsing = parsed
    .then(() => nextTurn())
    .then(() => {
      const text = take();
      return text && modelsIn(text);
    });
  parsed = parsing;
  return parsing;
}

/** What one upstream is asked. */
class Question {
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
    private readonly allowance: Allowance,
  ) {
    const anthropic = target.provider === 'anthropic';
    const at = anthropic ? { ...target, path: withPage(target.path) } : target;
    const version = anthropic ? `anthropic-version: ${ANTHROPIC_VERSION}\r\n` : '';
    const lines = `accept: application/json\r\n${version}${request.loopLines}`;
    const wire = wireRequest(at, 'GET', lines, Buffer.alloc(0));
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
    if (isTooMuch || !this.allowance.take(chunk.length)) return this.giveUp();
    this.bytes += chunk.length;
    this.chunks.push(Buffer.from(chunk));
  }

  settled(): void {
    // nothing is passed on before the end
  }

  end(): void {
    if (this.attempt.status !== 200) this.give(undefined);
    else void parseInTurn(() => this.text).then((models) => this.give(models));
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
    this.allowance.giveBack(this.bytes);
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

function withPage(path: string): string {
  if (LIMIT.test(path)) return path; // the client has asked for one
  return `${path}${path.includes('?') ? '&' : '?'}${ANTHROPIC_PAGE}`;
}
