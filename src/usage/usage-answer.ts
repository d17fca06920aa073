import { createParamDecorator } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';

/** How an answer about usage is given: JSON, or CSV where `Accept` prefers it. */
export interface UsageAnswer {
  give<T extends object>(answer: T, toCsv: (answer: T) => string): T | string;
  /** {@link give}, with the address of the next page in a `Link` header. */
  givePage<T extends { next_cursor: string | null }>(answer: T, toCsv: (answer: T) => string): T | string;
}

/** The {@link UsageAnswer} that the request wants. */
export const Answer = createParamDecorator((_: unknown, context: ExecutionContext): UsageAnswer => {
  const http = context.switchToHttp();
  return answerTo(http.getRequest<Request>(), http.getResponse<Response>());
});

function answerTo(request: Request, response: Response): UsageAnswer {
  const wantsCsv = request.accepts(['application/json', 'text/csv']) === 'text/csv';
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
      if (body.next_cursor !== null)
        response.set('Link', `<${addressWith(request, body.next_cursor)}>; rel="next"`);
      return answer.give(body, toCsv);
    },
  };
  return answer;
}

function addressWith(request: Request, cursor: string): string {
  const { pathname, searchParams } = new URL(request.originalUrl, 'http://localhost');
  searchParams.set('cursor', cursor);
  return `${pathname}?${searchParams.toString()}`;
}
