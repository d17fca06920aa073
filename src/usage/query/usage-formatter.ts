import { createParamDecorator, Injectable } from '@nestjs/common';
import type { ExecutionContext, PipeTransform } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Settings } from '../../config/settings.js';

const JSON_TYPES = ['application/json', 'application/json; charset=utf-8'];
const CSV_TYPES = ['text/csv', 'text/csv; charset=utf-8'];

/** Formats a response about usage: JSON, or CSV if `Accept` prefers it. */
export interface UsageFormatter {
  format<T extends object>(body: T, toCsv: (body: T) => string): T | string;
  /** Same as {@link format}, with the address of the next page in a `Link` header. */
  formatPage<T extends { next_cursor: string | null }>(body: T, toCsv: (body: T) => string): T | string;
}

/** The {@link UsageFormatter} for the `Accept` header of the request. */
export const Formatter = (): ParameterDecorator => exchange(CreateFormatter);

type Exchange = ReturnType<ExecutionContext['switchToHttp']>;

const exchange = createParamDecorator((_: unknown, context: ExecutionContext) => context.switchToHttp());

/** Creates the formatter in a pipe, because a parameter decorator has no access to the settings. */
@Injectable()
class CreateFormatter implements PipeTransform<Exchange, UsageFormatter> {
  constructor(private readonly settings: Settings) {}

  transform(http: Exchange): UsageFormatter {
    return createFormatter(http.getRequest<Request>(), http.getResponse<Response>(), this.settings.publicUrl);
  }
}

/** Whether `Accept` prefers CSV. */
export function prefersCsv(request: Request): boolean {
  const preferred = request.accepts([...JSON_TYPES, ...CSV_TYPES]);
  return preferred !== false && CSV_TYPES.includes(preferred);
}

function createFormatter(request: Request, response: Response, publicUrl: string): UsageFormatter {
  response.vary('Accept');
  const formatter: UsageFormatter = {
    format: (body, toCsv) => {
      if (!prefersCsv(request)) return body;
      response.set({
        'Content-Type': 'text/csv; charset=utf-8',
        'Content-Disposition': 'attachment; filename="usage.csv"',
      });
      return toCsv(body);
    },
    formatPage: (body, toCsv) => {
      if (body.next_cursor !== null) {
        const path = pathWith(request, body.next_cursor);
        response.set('Link', `<${publicUrl}${path}>; rel="next"`);
      }
      return formatter.format(body, toCsv);
    },
  };
  return formatter;
}

function pathWith(request: Request, cursor: string): string {
  const { pathname, searchParams } = new URL(request.originalUrl, 'http://localhost');
  searchParams.set('cursor', cursor);
  return `${pathname}?${searchParams.toString()}`;
}
