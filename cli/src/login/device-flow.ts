import {
  customFetch,
  initiateDeviceAuthorization,
  pollDeviceAuthorizationGrant,
  ResponseBodyError,
} from 'openid-client';
import type { Configuration, DeviceAuthorizationResponse } from 'openid-client';
import { CliError } from '../errors.js';
import { toUnreachable } from '../network/network-error.js';
import { printable } from '../terminal/printable.js';
import { oauthFetch } from './authorization-server.js';
import { isNetworkError, retryingFetch, TemporaryFailure } from './poll-fetch.js';

/** Names by which the person who approves recognizes the device. */
export interface Device {
  /** Also the name of the key. */
  readonly name?: string;
  readonly hostname: string;
}

const AGAIN = 'run "mintkeep login" again';

/** Requests the codes. @throws CliError */
export async function beginDeviceFlow(
  configuration: Configuration,
  server: string,
  { name, hostname }: Device,
): Promise<DeviceAuthorizationResponse> {
  try {
    return await initiateDeviceAuthorization(configuration, {
      hostname,
      ...(name !== undefined && { name }),
    });
  } catch (error) {
    if (isNetworkError(error)) throw toUnreachable(server, error);
    throw toBeginError(server, error);
  }
}

/**
 * Waits for the decision and returns the key.
 * @param onFailure called with the reason why the last poll got no decision; undefined after a response
 * @throws CliError
 */
export async function waitForKey(
  configuration: Configuration,
  server: string,
  codes: DeviceAuthorizationResponse,
  onFailure: (failure: string | undefined) => void,
): Promise<string> {
  let lastFailure: string | undefined;
  const signal = AbortSignal.timeout(codes.expires_in * 1_000);
  configuration[customFetch] = retryingFetch(oauthFetch, (failure) => {
    if (signal.aborted) return; // the expiry of the code cut this poll off, not the server
    lastFailure = failure === undefined ? undefined : describeFailure(server, failure);
    onFailure(lastFailure);
  });
  try {
    const tokens = await pollDeviceAuthorizationGrant(configuration, codes, undefined, { signal });
    return tokens.access_token;
  } catch (error) {
    throw toPollError(server, error, lastFailure);
  }
}

function describeFailure(server: string, failure: unknown): string {
  if (failure instanceof TemporaryFailure) return `the server responded with ${failure.status}`;
  return toUnreachable(server, failure).message;
}

function toBeginError(server: string, error: unknown): CliError {
  const status = statusOf(error);
  if (status === 429) return new CliError('too many logins from this address', 'try again in a minute');
  if (status !== undefined && status >= 500)
    return new CliError(`${server} responded with ${status}`, 'try again later');
  if (error instanceof ResponseBodyError)
    return new CliError(`the server rejected the login: ${describe(error)}`, 'check the address');
  return new CliError(`${server} is not a mintkeep service`, 'check the address');
}

function toPollError(server: string, error: unknown, lastFailure: string | undefined): CliError {
  const code = error instanceof ResponseBodyError ? error.error : (error as { code?: string }).code;
  switch (code) {
    case 'access_denied':
      return new CliError('the login was denied in the browser', `${AGAIN} and approve it`);
    case 'expired_token':
    case 'OAUTH_TIMEOUT':
    case 'OAUTH_ABORT':
      if (lastFailure !== undefined) return new CliError(`the code has expired: ${lastFailure}`, AGAIN);
      return new CliError('the code has expired before it was approved', AGAIN);
    case 'invalid_grant':
      return new CliError('the server does not know the code any more', AGAIN);
    default:
      if (error instanceof ResponseBodyError)
        return new CliError(`the server rejected the login: ${describe(error)}`, AGAIN);
      return new CliError(`${server} sent an unexpected response`, `${AGAIN}, or check the address`);
  }
}

function describe({ error, error_description }: ResponseBodyError): string {
  return printable(error_description ?? error).slice(0, 300);
}

/** The status of an unexpected response, which openid-client passes as the cause. */
function statusOf(error: unknown): number | undefined {
  if (error instanceof ResponseBodyError) return error.status;
  const { cause } = error as { cause?: unknown };
  const { status } = (cause ?? {}) as { status?: unknown };
  return typeof status === 'number' ? status : undefined;
}
