import { Catch, HttpException, HttpStatus, Logger } from '@nestjs/common';
import type { ArgumentsHost, ExceptionFilter } from '@nestjs/common';
import type { Response } from 'express';
import { DomainError } from './domain-error.js';
import { requestIdOf } from './request-id.js';

/** The body of every refusal. */
export interface ErrorBody {
  error: { type?: string; message: string };
}

/** The one place where errors become HTTP. What a service did not mean for the client is a bare 500. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger(ErrorFilter.name);

  catch(exception: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    if (response.headersSent) {
      response.destroy();
      return;
    }
    if (exception instanceof DomainError) {
      const { status, type, message, headers } = exception;
      response.set(headers).status(status).json(errorBody(message, type));
    } else if (exception instanceof HttpException && exception.getStatus() < 500) {
      response.status(exception.getStatus()).json(errorBody(exception.message));
    } else {
      this.logger.error({ requestId: requestIdOf(response), err: exception }, 'unexpected failure');
      response.status(HttpStatus.INTERNAL_SERVER_ERROR).json(errorBody('internal error'));
    }
  }
}

export function errorBody(message: string, type?: string): ErrorBody {
  return { error: type === undefined ? { message } : { type, message } };
}
