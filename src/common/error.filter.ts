import { Catch, HttpException, HttpStatus, Logger } from '@nestjs/common';
import type { ArgumentsHost, ExceptionFilter } from '@nestjs/common';
import type { Response } from 'express';
import { DomainError } from './domain-error.js';
import { requestIdOf } from './request-id.js';
import { sendAfresh } from './send-afresh.js';

/** The body of every refusal. */
export interface ErrorBody {
  error: { type?: string; message: string; interval?: number };
}

/** What a client is told, in whatever form. */
export interface Refusal extends Pick<DomainError, 'type' | 'message' | 'interval'> {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What a client is told of everything that was not meant for it. */
export const INTERNAL_ERROR: Refusal = {
  status: HttpStatus.INTERNAL_SERVER_ERROR,
  message: 'internal error',
};

/** A refusal as it is sent. */
export interface RefusalAnswer {
  readonly status: number;
  readonly body: object;
}

/**
 * The one place where errors become HTTP. What a service did not mean for the client is a bare 500. Routes with
 * another form of refusal have a filter of their own that overrides {@link answerTo}, and {@link present} where
 * that form is not JSON.
 */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger(ErrorFilter.name);

  catch(exception: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const refusal = this.toRefusal(exception, response);
    response.set({ ...refusal.headers });
    this.present(refusal, response);
  }

  /** What the routes of this filter answer with. Needs nothing of the instance: the OpenAPI document asks, too. */
  answerTo({ status, message, type, interval }: Refusal): RefusalAnswer {
    return { status, body: errorBody(message, type, interval) };
  }

  /** Headers are set. */
  protected present(refusal: Refusal, response: Response): void {
    const { status, body } = this.answerTo(refusal);
    sendAfresh(response.status(status).type('json'), JSON.stringify(body)); // an ETag is the document's alone
  }

  private toRefusal(exception: unknown, response: Response): Refusal {
    if (exception instanceof DomainError) return exception;
    if (exception instanceof HttpException && exception.getStatus() < 500)
      return { status: exception.getStatus(), message: exception.message };
    this.logger.error({ requestId: requestIdOf(response), err: exception }, 'unexpected failure');
    return INTERNAL_ERROR;
  }
}

/** What is undefined is left out of the JSON. */
export function errorBody(message: string, type?: string, interval?: number): ErrorBody {
  return { error: { type, message, interval } };
}
