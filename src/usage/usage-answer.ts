import { createParamDecorator, Injectable } from '@nestjs/common';
import type { ExecutionContext, PipeTransform } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Settings } from '../config/settings.js';

const JSON_TYPES = ['application/json', 'application/json; charset=utf-8'];
const CSV_TYPES = ['text/csv', 'text/csv; charset=utf-8'];

/** How an answer about usage is given: JSON, or CSV where `Accept` prefers it. */
export interface UsageAnswer {
  give<T extends object>(answer: T, toCsv: (answer: T) => string): T | string;
  /** {@link give}, with the address of the next page in a `Link` header. */
  givePage<T extends { next_cursor: string | null }>(answer: T, toCsv: (answer: T) => string): T | string;
}

/** The {@link UsageAnswer} that the request wants. */
export const Answer = (): ParameterDecorator => exchange(UsageAnswers);

type Exchange = ReturnType<ExecutionContext['switchToHttp']>;

const exchange = createParamDecorator((_: unknown, context: ExecutionContext) => context.switchToHttp());

/** A pipe, because parameters alone do not get at the settings. */
@Injectable()
class UsageAnswers implements PipeTransform<Exchange, UsageAnswer> {
  constructor(private readonly settings: Settings) {}

  transform(http: Exchange): UsageAnswer {
    return answerTo(http.getRequest<Request>(), http.getResponse<Response>(), this.settings.publicUrl);
  }
}

function answerTo(request: Request, response: Response, publicUrl: string): UsageAnswer {
  const preferred = request.accepts([...JSON_TYPES, ...CSV_TYPES]);
  const wantsCsv = preferred !== false && CSV_TYPES.includes(preferred);
  response.vary('Accept');
  const answer: UsageAnswer = {
    give: (body, toCsv) => {
      if (!wantsCsv) return body;
      response.set({
        'Content-Type': 'text/csv; charset=utf-8',
        'Content-Disposition': 'attachment; filename="usage.csv"',
      });
      return toCsv(body);
    },
    givePage: (body, toCsv) => {
      if (body.next_cursor !== null) {
        const path = pathWith(request, body.next_cursor);
        response.set('Link', `<${publicUrl}${path}>; rel="next"`);
      }
      return answer.give(body, toCsv);
    },
  };
  return answer;
}

function pathWith(request: Request, cursor: string): string {
  const { pathname, searchParams } = new URL(request.originalUrl, 'http://localhost');
  searchParams.set('cursor', cursor);
  return `${pathname}?${searchParams.toString()}`;
}
