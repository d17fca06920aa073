import { Injectable } from '@nestjs/common';
import type { HttpResponse } from '../common/http-exchange.js';
import { Attempt } from './attempt.js';
import type { AttemptError } from './attempt.js';
import type { AnswerHead } from './answer-head.js';
import { mergedModels, modelsIn } from './models.js';
import type { ListedModel } from './models.js';
import type { ProxiedRequest } from './proxied-request.js';
import { refuse } from './refuse.js';
import { wireRequest } from './target.js';
import type { Target } from './target.js';
import { UpstreamConnections } from './upstream-connections.js';
import type { Finish } from './usage-of.js';

const TIMEOUT_MS = 3_000;
const ANSWER_LIMIT_BYTES = 4_194_304;
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
  constructor(private readonly connections: UpstreamConnections) {}

  answer(request: ProxiedRequest, response: HttpResponse, targets: readonly Target[], finish: Finish): void {
    const asksAnthropic = /^anthropic-version:/im.test(request.lines);
    const questions = targets.map((target) => new Question(request, target, this.connections));
    const closed = () => {
      for (const question of questions) question.cancel();
      const attempts = attemptsOf(questions);
      finish(request, { status: 499, outcome: 'client_gone', attempts, isStream: false });
    };
    request.answering = { closed };
    void Promise.all(questions.map((question) => question.ask())).then((lists) => {
      if (response.destroyed) return;
      const attempts = attemptsOf(questions);
      const answered = lists.findIndex((list) => list !== undefined);
      const attempt = attempts[answered];
      const body = attempt && textOf(lists, asksAnthropic);
      if (body === undefined) {
        const code = attempt ? 'upstream_error' : 'upstream_unreachable';
        const { status, send } = refuse(response, code, request.id);
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
function textOf(lists: readonly (ListedModel[] | undefined)[], anthropic: boolean): string | undefined {
  const models = lists.flatMap((list) => list ?? []);
  try {
    return JSON.stringify(mergedModels(models, anthropic));
  } catch {
    return undefined;
  }
}

function attemptsOf(questions: readonly Question[]): Attempt[] {
  return questions.map(({ attempt }) => attempt);
}

function send(response: HttpResponse, body: string, requestId: string): void {
  if (response.destroyed) return;
  response.writeHead(200, [
    ...['content-type', 'application/json; charset=utf-8', 'content-length', String(Buffer.byteLength(body))],
    ...['x-request-id', requestId, 'request-id', requestId],
  ]);
  response.end(body);
}

/** What one upstream is asked. */
class Question {
  readonly attempt: Attempt;
  /** An answer that breaks off is none. */
  readonly hasBegun = true;
  private readonly chunks: Buffer[] = [];
  private bytes = 0;
  private resolve: (models: ListedModel[] | undefined) => void;

  constructor(request: ProxiedRequest, target: Target, connections: UpstreamConnections) {
    const anthropic = target.provider === 'anthropic';
    const at = anthropic ? { ...target, path: withPage(target.path) } : target;
    const lines = `accept: application/json\r\n${anthropic ? `anthropic-version: ${ANTHROPIC_VERSION}\r\n` : ''}`;
    const wire = wireRequest(at, 'GET', lines, Buffer.alloc(0));
    const deadlines = { firstByteMs: TIMEOUT_MS, idleMs: TIMEOUT_MS };
    this.attempt = new Attempt(target, wire, deadlines, connections, {
      accepted: (attempt) => attempt.passTo(this),
      rejected: () => this.give(undefined),
    });
  }

  /** Undefined when no list comes. */
  ask(): Promise<ListedModel[] | undefined> {
    return new Promise((resolve) => {
      this.resolve = resolve;
      const deadline = setTimeout(() => this.give(undefined, 'timeout'), TIMEOUT_MS);
      this.resolve = (models) => {
        clearTimeout(deadline);
        resolve(models);
      };
      this.attempt.start();
    });
  }

  cancel(): void {
    this.give(undefined);
  }

  head(_head: AnswerHead): void {
    // status and body tell whether it is a list
  }

  data(chunk: Buffer): void {
    this.chunks.push(Buffer.from(chunk));
    this.bytes += chunk.length;
    if (this.bytes > ANSWER_LIMIT_BYTES) this.give(undefined);
  }

  settled(): void {
    // nothing is passed on before the end
  }

  end(): void {
    this.give(this.attempt.status === 200 ? modelsIn(Buffer.concat(this.chunks)) : undefined);
  }

  cut(): void {
    this.give(undefined);
  }

  /** @param error why there are none, where the upstream has not said anything yet */
  private give(models: ListedModel[] | undefined, error?: AttemptError): void {
    this.attempt.cancel(error);
    this.resolve(models);
  }
}

function withPage(path: string): string {
  if (LIMIT.test(path)) return path; // the client has asked for one
  return `${path}${path.includes('?') ? '&' : '?'}${ANTHROPIC_PAGE}`;
}
