import type { LoggerService } from '@nestjs/common';
import { pino } from 'pino';
import type { Logger, LoggerOptions } from 'pino';
import { QueryFailedError } from 'typeorm';

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Must be less than the 16 KiB that pino's destination writes at once. */
const BUFFER_BYTES = 16_000;
const FLUSH_INTERVAL_MS = 100;
/** Limit of lines that cannot be written, for example on a full disk; further lines are dropped. */
const WAITING_LIMIT_BYTES = 1_048_576;
/** Limit of cached loggers. Contexts are usually class names, but can be any text. */
const CACHED_CONTEXTS = 1_000;

/** Members that are redacted in case code logs them by mistake. */
const SECRETS = [
  'authorization',
  'cookie',
  'password',
  'secret',
  'token',
  'api_key',
  'apiKey',
  'content',
  'device_code',
  'deviceCode',
  'user_code',
  'userCode',
  'headers.authorization',
  'headers.cookie',
];

/**
 * Nest's logger as JSON lines on standard output. `logger.error({ requestId, err }, 'message')` logs the members of the
 * object next to the message. The members must not contain credentials or contents.
 */
export class JsonLogger implements LoggerService {
  private readonly logger: Logger;
  private readonly destination: ReturnType<typeof pino.destination>;
  private readonly byContext = new Map<string, Logger>();

  constructor(level: LogLevel) {
    const options: LoggerOptions = {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: withoutValues },
      redact: { paths: SECRETS, censor: '[redacted]' },
    };
    // Many lines share one write: single writes would add a quarter to the cost of a request. The exit writes the rest.
    const buffered = {
      minLength: BUFFER_BYTES,
      periodicFlush: FLUSH_INTERVAL_MS,
      maxLength: WAITING_LIMIT_BYTES,
    };
    let isFailing = false;
    // Registered earlier than pino's own listener, which would retry a failing write without end.
    process.once('exit', () => isFailing && this.destination.destroy());
    this.destination = pino.destination({ fd: 1, sync: false, ...buffered });
    this.destination.on('error', () => (isFailing = true)).on('write', () => (isFailing = false));
    this.logger = pino(options, this.destination);
  }

  /** Logs at level `info`; reports of Nest's own start at level `debug`. */
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
  private write(requested: WrittenLevel, message: unknown, rest: unknown[]): void {
    const context = rest.length > 0 ? String(rest.at(-1)) : undefined;
    const text = rest.length > 1 ? rest[0] : undefined;
    const level = levelFor(requested, context);
    const logger = this.loggerFor(context);
    if (typeof message === 'object' && message !== null) {
      logger[level](message, typeof text === 'string' ? text : undefined);
    } else logger[level](String(message));
    if (URGENT.has(level)) this.destination.flush();
  }

  /** Caches one child logger per context, which is faster than merging the context into each line. */
  private loggerFor(context: string | undefined): Logger {
    if (context === undefined) return this.logger;
    const known = this.byContext.get(context);
    if (known) return known;
    const logger = this.logger.child({ context });
    if (this.byContext.size < CACHED_CONTEXTS) this.byContext.set(context, logger);
    return logger;
  }
}

/** Levels that are written at once. */
const URGENT: ReadonlySet<string> = new Set(['fatal', 'error', 'warn']);

type WrittenLevel = Exclude<LogLevel, 'silent'>;

/** Reports of Nest about the start are for developers. `main` reports a failed start in one line. */
function levelFor(level: WrittenLevel, context: string | undefined): WrittenLevel {
  if (context === FAILED_START) return 'debug';
  return level === 'info' && context !== undefined && NEST_START_UP.has(context) ? 'debug' : level;
}

/** Context in which Nest reports an error of the start. */
const FAILED_START = 'ExceptionHandler';
const NEST_START_UP = new Set([
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestApplication',
]);

/**
 * Serializes an error without values. A failed statement carries its parameters and the conflicting row, and a failed
 * request its headers. Only members that are known to be harmless are logged.
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
