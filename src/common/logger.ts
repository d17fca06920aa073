import type { LoggerService } from '@nestjs/common';
import { pino } from 'pino';
import type { Logger, LoggerOptions } from 'pino';
import { QueryFailedError } from 'typeorm';

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Has to be less than the 16 KiB that pino's destination writes at once. */
const BUFFER_BYTES = 16_000;
const FLUSH_INTERVAL_MS = 100;
/** Of what cannot be written for a while, on a full disk for one; lines beyond it are lost. */
const WAITING_LIMIT_BYTES = 1_048_576;
/** Names of classes; anything may come in their place. */
const KNOWN_CONTEXTS = 1_000;

/** The second net: nobody is to log these in the first place. */
const SECRETS = [
  ...['authorization', 'cookie', 'password', 'secret', 'token', 'api_key', 'apiKey', 'content'],
  ...['device_code', 'deviceCode', 'user_code', 'userCode', 'headers.authorization', 'headers.cookie'],
];

/**
 * Nest's logger as JSON lines on standard output. `logger.error({ requestId, err }, 'message')` logs the
 * object's members beside the message; what is passed must not hold credentials or contents.
 */
export class JsonLogger implements LoggerService {
  private readonly logger: Logger;
  private readonly destination: ReturnType<typeof pino.destination>;
  private readonly byContext = new Map<string, Logger>();

  constructor(level: LogLevel) {
    const options: LoggerOptions = {
      ...{ level, base: undefined, timestamp: pino.stdTimeFunctions.isoTime },
      serializers: { err: withoutValues },
      redact: { paths: SECRETS, censor: '[redacted]' },
    };
    // Many lines in one write, or a request would cost a quarter more; what is left is written when the process exits.
    const buffered = {
      minLength: BUFFER_BYTES,
      periodicFlush: FLUSH_INTERVAL_MS,
      maxLength: WAITING_LIMIT_BYTES,
    };
    let isFailing = false;
    // Before pino's own, which tries to write the rest until it can.
    process.once('exit', () => isFailing && this.destination.destroy());
    this.destination = pino.destination({ fd: 1, sync: false, ...buffered });
    this.destination.on('error', () => (isFailing = true)).on('write', () => (isFailing = false));
    this.logger = pino(options, this.destination);
  }

  /** Nest reports its own start through `log`: of use to who debugs a start only. */
  log(message: unknown, ...rest: unknown[]): void {
    this.write('info', message, rest);
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.write('error', message, rest);
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.write('trace', message, rest);
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.write('fatal', message, rest);
  }

  /** Nest passes the context (a class name) as the last argument. */
  private write(level: Exclude<LogLevel, 'silent'>, message: unknown, rest: unknown[]): void {
    const context = rest.length > 0 ? String(rest.at(-1)) : undefined;
    const text = rest.length > 1 ? rest[0] : undefined;
    if (level === 'info' && context !== undefined && NEST_START_UP.has(context)) level = 'debug';
    const logger = this.loggerOf(context);
    if (typeof message === 'object' && message !== null) {
      logger[level](message, typeof text === 'string' ? text : undefined);
    } else logger[level](String(message));
    if (URGENT.has(level)) this.destination.flush();
  }

  /** One for each context, so that a line need not be put together of two objects. */
  private loggerOf(context: string | undefined): Logger {
    if (context === undefined) return this.logger;
    const known = this.byContext.get(context);
    if (known) return known;
    const logger = this.logger.child({ context });
    if (this.byContext.size < KNOWN_CONTEXTS) this.byContext.set(context, logger);
    return logger;
  }
}

/** Written at once: somebody may be waiting for them. */
const URGENT: ReadonlySet<string> = new Set(['fatal', 'error', 'warn']);

const NEST_START_UP = new Set([
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestApplication',
]);

/**
 * What of an error is for the log. A failed statement carries its parameters and the row that was in the way, a failed
 * request its headers: of what an error has beside its message, only what is known to be harmless is kept.
 */
function withoutValues(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error };
  const { code, cause } = error as NodeJS.ErrnoException;
  return {
    type: error.constructor.name,
    message: error.message,
    stack: error.stack,
    code,
    ...(error instanceof QueryFailedError && { query: error.query }),
    ...(cause !== undefined && { cause: withoutValues(cause) }),
  };
}
