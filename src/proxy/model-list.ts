import { Injectable } from '@nestjs/common';
import { fewAtOnce } from '../common/few-at-once.js';
import type { HttpResponse } from '../common/http-exchange.js';
import type { Attempt } from './attempt.js';
import { HeldBytes, ListBudget } from './list-budget.js';
import { ListParser } from './list-parser.js';
import { ASKS_ANTHROPIC, ModelQuestion } from './model-question.js';
import type { Answered } from './model-question.js';
import { mergedModels } from './models.js';
import { prepareRefusal } from './prepared-refusal.js';
import type { ProxiedRequest } from './proxied-request.js';
import type { Target } from './target.js';
import { UpstreamConnections } from './upstream-connections.js';
import type { Finish } from './usage-of.js';
import { idHeaders } from './wire-headers.js';

/** Upstreams of one request: pools may be of any size. */
const ASKED_AT_ONCE = 50;

/** Whether this asks for the list that is made of all upstreams' lists. */
export function isModelList({ method, path }: ProxiedRequest): boolean {
  return method === 'GET' && (path === '/v1/models' || path === '/v1/models/');
}

/** The models of a pool: the lists of all its upstreams, one after the other, each id once. */
@Injectable()
export class ModelList {
  private readonly held = new HeldBytes();
  private readonly parser = new ListParser();

  constructor(private readonly connections: UpstreamConnections) {}

  answer(request: ProxiedRequest, response: HttpResponse, targets: readonly Target[], finish: Finish): void {
    const asksAnthropic = ASKS_ANTHROPIC.test(request.lines);
    const budget = new ListBudget(this.held, request.key.organizationId);
    const questions = targets.map(
      (target) => new ModelQuestion(request, target, this.connections, budget, this.parser),
    );
    const closed = () => {
      for (const question of questions) question.cancel();
      const attempts = attemptsOf(questions);
      finish(request, { status: 499, outcome: 'client_gone', attempts, isStream: false });
    };
    request.answering = { closed };
    void askAll(questions, () => response.destroyed).then((lists) => {
      budget.giveBack();
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
async function askAll(questions: readonly ModelQuestion[], isOver: () => boolean): Promise<Answered[]> {
  const lists: Answered[] = questions.map(() => undefined);
  const ask = async ([i, question]: [number, ModelQuestion]) => {
    lists[i] = await question.ask();
  };
  await fewAtOnce(questions.entries(), ASKED_AT_ONCE, ask, isOver);
  return lists;
}

function attemptsOf(questions: readonly ModelQuestion[]): Attempt[] {
  return questions.filter(({ wasAsked }) => wasAsked).map(({ attempt }) => attempt);
}

function send(response: HttpResponse, body: string, requestId: string): void {
  if (response.destroyed) return;
  response.writeHead(200, [
    ...['content-type', 'application/json; charset=utf-8', 'content-length', String(Buffer.byteLength(body))],
    ...idHeaders(requestId),
  ]);
  response.end(body);
}
