import { createServer as createHttpServer } from 'node:http';
import type { IncomingHttpHeaders, RequestListener, Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/** HTTP server on the loopback interface that takes the place of an upstream. */
export interface FakeUpstream {
  readonly port: number;
  /** `http://127.0.0.1:port` */
  readonly url: string;
  /** Received requests, oldest first. */
  readonly requests: { method: string; url: string; headers: IncomingHttpHeaders }[];
  close(): Promise<void>;
}

/** @param respond handler of every request; sends an empty list of models by default */
export function startUpstream(respond: RequestListener = respondWithModels): Promise<FakeUpstream> {
  return start('http', (listener) => createHttpServer(listener), respond);
}

/** {@link startUpstream} with TLS and a self-signed certificate for `upstream.example`. */
export function startTlsUpstream(respond: RequestListener = respondWithModels): Promise<FakeUpstream> {
  const tls = { key: TLS_KEY, cert: TLS_CERTIFICATE };
  return start('https', (listener) => createHttpsServer(tls, listener), respond);
}

async function start(
  scheme: string,
  create: (listener: RequestListener) => Server | ReturnType<typeof createHttpsServer>,
  respond: RequestListener,
): Promise<FakeUpstream> {
  const requests: FakeUpstream['requests'] = [];
  const server = create((request, response) => {
    const { method, url, headers } = request;
    requests.push({ method: method!, url: url!, headers });
    respond(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `${scheme}://127.0.0.1:${port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const respondWithModels: RequestListener = (_request, response) => {
  response.setHeader('Content-Type', 'application/json').end('{"object":"list","data":[]}');
};

/** Created for the tests only; valid until 2120. */
export const TLS_CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBdTCCARygAwIBAgIBATAKBggqhkjOPQQDAjAbMRkwFwYDVQQDDBB1cHN0cmVh
bS5leGFtcGxlMCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAbMRkw
FwYDVQQDDBB1cHN0cmVhbS5leGFtcGxlMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcD
QgAEo4wAIA1IcdZg7Yp0yD/l47SBsTd4qWXLvBcZo3raJ0PxnOinq5VF6rnXDyXf
EJKUkEqoyG/jx32UC2Alqdkl86NPME0wGwYDVR0RBBQwEoIQdXBzdHJlYW0uZXhh
bXBsZTAPBgNVHRMBAf8EBTADAQH/MB0GA1UdDgQWBBQqPIM+tDEx3+R9IST1MezH
tino+DAKBggqhkjOPQQDAgNHADBEAiBxJeonZ59yimU4y1j4yN1T9pZB/653L5aC
ZmSABbK1nQIgeoixuvZPTae5y2Z6yotMGrEErIf4guc04LWVgXuf1a0=
-----END CERTIFICATE-----`;

const TLS_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg8y74jqTJ8yLuf9hz
fFdqaAN69BR3cmPkJugfYHKXrVehRANCAASjjAAgDUhx1mDtinTIP+XjtIGxN3ip
Zcu8FxmjetonQ/Gc6KerlUXqudcPJd8QkpSQSqjIb+PHfZQLYCWp2SXz
-----END PRIVATE KEY-----`;
