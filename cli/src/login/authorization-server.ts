import { allowInsecureRequests, Configuration, customFetch, discovery, None } from 'openid-client';
import type { CustomFetch } from 'openid-client';
import { toUnreachable } from '../network/network-error.js';
import { proxiedFetch } from '../network/proxied-fetch.js';
import { isNetworkError } from './poll-fetch.js';

const CLIENT_ID = 'mintkeep-cli';
const TIMEOUT_SECONDS = 15;

/** `fetch` of openid-client. */
export const oauthFetch: CustomFetch = (url, options) => proxiedFetch(url, options);

/**
 * Reads the metadata of the authorization server (RFC 8414). A service may have another address than its metadata
 * names, and a load balancer may hide the metadata. The endpoints below the user's own address are used then,
 * so that the key comes from the server that the user named.
 * @throws ServerUnreachable
 */
export async function discoverServer(server: string): Promise<Configuration> {
  let configuration: Configuration;
  try {
    configuration = await discovery(new URL(server), CLIENT_ID, undefined, None(), {
      algorithm: 'oauth2',
      timeout: TIMEOUT_SECONDS,
      execute: [allowInsecureRequests], // the caller has decided about plain http
      [customFetch]: oauthFetch,
    });
  } catch (error) {
    if (isNetworkError(error)) throw toUnreachable(server, error);
    configuration = new Configuration(endpointsOf(server), CLIENT_ID, undefined, None());
    allowInsecureRequests(configuration);
    configuration.timeout = TIMEOUT_SECONDS;
  }
  configuration[customFetch] = oauthFetch;
  return configuration;
}

function endpointsOf(server: string) {
  return {
    issuer: server,
    device_authorization_endpoint: `${server}/oauth/device_authorization`,
    token_endpoint: `${server}/oauth/token`,
  };
}
