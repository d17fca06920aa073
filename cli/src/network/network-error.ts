import { CliError, errorCode } from '../errors.js';

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET)|^ERR_(?:TLS|SSL)/;

/** Reasons by the code of the error. */
const REASONS: Record<string, string> = {
  ECONNREFUSED: 'the connection was refused',
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the host name cannot be looked up',
  EHOSTUNREACH: 'the host is unreachable',
  ENETUNREACH: 'the network is unreachable',
  ECONNRESET: 'the connection was closed',
  EPIPE: 'the connection was closed',
  UND_ERR_SOCKET: 'the connection was closed',
  ETIMEDOUT: 'no response in time',
  OAUTH_TIMEOUT: 'no response in time',
  UND_ERR_CONNECT_TIMEOUT: 'no response in time',
  UND_ERR_HEADERS_TIMEOUT: 'no response in time',
  UND_ERR_BODY_TIMEOUT: 'no response in time',
};

/** The server gave no response. */
export class ServerUnreachable extends CliError {
  constructor(
    server: string,
    reason: string,
    advice = 'check the address and your connection, then try again',
  ) {
    super(`cannot reach ${server}: ${reason}`, advice);
  }
}

/** Converts an error of `fetch`. Its own text could contain headers, so only its code is shown. */
export function toUnreachable(server: string, error: unknown): ServerUnreachable {
  const code = findCode(error);
  if (isTimeout(error)) return new ServerUnreachable(server, 'no response in time');
  if (code !== undefined && CERTIFICATE.test(code)) {
    const advice = 'if an authority of your own signed it, set NODE_EXTRA_CA_CERTS to its file';
    return new ServerUnreachable(server, `its certificate is not trusted (${code})`, advice);
  }
  return new ServerUnreachable(
    server,
    REASONS[code ?? ''] ?? `the request failed${code ? ` (${code})` : ''}`,
  );
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}

/** `fetch` wraps the error of the connection, sometimes more than once. */
function findCode(error: unknown): string | undefined {
  for (let each = error, depth = 0; each instanceof Error && depth < 5; each = each.cause, depth++) {
    const code = errorCode(each);
    if (code !== undefined) return code;
  }
  return undefined;
}
