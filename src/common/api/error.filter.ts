import { Catch, HttpException, HttpStatus, Logger } from '@nestjs/common';
import type { ArgumentsHost, ExceptionFilter } from '@nestjs/common';
import type { Response } from 'express';
import { sendUncached } from './conditional.js';
import { DomainError, RequestTimeout } from './domain-error.js';
import { renewRequestId, requestIdOf } from './request-id.js';

/** Body of every error response. */
export interface ErrorBody {
  error: { type?: string; message: string; interval?: number };
}

/** Error as a client sees it, independent of the format of the response. */
export interface Rejection extends Pick<DomainError, 'type' | 'message' | 'interval'> {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Replaces every error that is not meant for the client. */
export const INTERNAL_ERROR: Rejection = {
  status: HttpStatus.INTERNAL_SERVER_ERROR,
  message: 'internal error',
};

/** Status and JSON body of a rejection. */
export interface ErrorResponse {
  readonly status: number;
  readonly body: object;
}

/**
 * Maps errors to HTTP responses. Errors that are not meant for the client become a 500 without details. Routes with
 * another format have their own filter, which overrides {@link toResponse}, and {@link present} if the format is not JSON.
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
    const rejection = this.toRejection(exception, response);
    response.set({ ...rejection.headers });
    if (isLate(rejection)) this.presentLate(rejection, response);
    else this.present(rejection, response);
  }

  /** Returns {@link toResponse}, except for a late body, whose response is the same on all routes. */
  responseTo(rejection: Rejection): ErrorResponse {
    return isLate(rejection) ? defaultResponse(rejection) : this.toResponse(rejection);
  }

  /** Format of the routes of this filter. Must not use members of the instance: the OpenAPI document calls it, too. */
  toResponse(rejection: Rejection): ErrorResponse {
    return defaultResponse(rejection);
  }

  /** Sends the response; its headers are already set. */
  protected present(rejection: Rejection, response: Response): void {
    sendJson(response, this.toResponse(rejection));
  }

  /** Responds like the server to a request that is late before it is routed, including the new request id. */
  private presentLate(rejection: Rejection, response: Response): void {
    renewRequestId(response);
    response.set('Connection', 'close');
    sendJson(response, defaultResponse(rejection));
  }

  private toRejection(exception: unknown, response: Response): Rejection {
    if (exception instanceof DomainError) return exception;
    if (exception instanceof HttpException && exception.getStatus() < 500)
      return { status: exception.getStatus(), message: exception.message };
    this.logger.error({ requestId: requestIdOf(response), err: exception }, 'unexpected failure');
    return INTERNAL_ERROR;
  }
}

/** Whether the request was rejected because its body did not arrive in time. */
function isLate(rejection: Rejection): boolean {
  return rejection instanceof RequestTimeout;
}

function defaultResponse({ status, message, type, interval }: Rejection): ErrorResponse {
  return { status, body: errorBody(message, type, interval) };
}

function sendJson(response: Response, { status, body }: ErrorResponse): void {
  sendUncached(response.status(status).type('json'), JSON.stringify(body)); // only documents have an ETag
}

/** Builds the body; undefined members do not appear in the JSON. */
export function errorBody(message: string, type?: string, interval?: number): ErrorBody {
  return { error: { type, message, interval } };
}
