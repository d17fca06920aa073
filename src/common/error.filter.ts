import { Catch, HttpException, HttpStatus, Logger } from '@nestjs/common';
import type { ArgumentsHost, ExceptionFilter } from '@nestjs/common';
import type { Response } from 'express';
import { DomainError } from './domain-error.js';
import { requestIdOf } from './request-id.js';

/** The body of every refusal. */
export interface ErrorBody {
  error: { type?: string; message: string; interval?: number };
}

/** What a client is told, in whatever form. */
export interface Refusal extends Pick<DomainError, 'type' | 'message' | 'interval'> {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * The one place where errors become HTTP. What a service did not mean for the client is a bare 500. Routes with
 * another form of refusal have a filter of their own that overrides {@link present}.
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
    response.set({ ...refusal.headers }).status(refusal.status);
    this.present(refusal, response);
  }

  /** Status and headers are set. */
  protected present({ message, type, interval }: Refusal, response: Response): void {
    response.json(errorBody(message, type, interval));
  }

  private toRefusal(exception: unknown, response: Response): Refusal {
    if (exception instanceof DomainError) return exception;
    if (exception instanceof HttpException && exception.getStatus() < 500)
      return { status: exception.getStatus(), message: exception.message };
    this.logger.error({ requestId: requestIdOf(response), err: exception }, 'unexpected failure');
    return { status: HttpStatus.INTERNAL_SERVER_ERROR, message: 'internal error' };
  }
}

/** What is undefined is left out of the JSON. */
export function errorBody(message: string, type?: string, interval?: number): ErrorBody {
  return { error: { type, message, interval } };
}
