import { createServer as createHttpServer } from 'node:http';
import type { IncomingHttpHeaders, RequestListener, Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/** A server that stands for an upstream, on the loopback interface. */
export interface FakeUpstream {
  readonly port: number;
  /** `http://127.0.0.1:port` */
  readonly url: string;
  /** What it was asked, oldest first. */
  readonly requests: { method: string; url: string; headers: IncomingHttpHeaders }[];
  close(): Promise<void>;
}

/** @param answer how every request is answered; an empty list of models when left out */
export function startUpstream(answer: RequestListener = answerWithModels): Promise<FakeUpstream> {
  return start('http', (listener) => createHttpServer(listener), answer);
}

/** {@link startUpstream} with TLS, and the certificate of `upstream.example` that it signed itself. */
export function startTlsUpstream(answer: RequestListener = answerWithModels): Promise<FakeUpstream> {
  const tls = { key: TLS_KEY, cert: TLS_CERTIFICATE };
  return start('https', (listener) => createHttpsServer(tls, listener), answer);
}

async function start(
  scheme: string,
  create: (listener: RequestListener) => Server | ReturnType<typeof createHttpsServer>,
  answer: RequestListener,
): Promise<FakeUpstream> {
  const requests: FakeUpstream['requests'] = [];
  const server = create((request, response) => {
    const { method, url, headers } = request;
    requests.push({ method: method!, url: url!, headers });
    answer(request, response);
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

const answerWithModels: RequestListener = (_request, response) => {
  response.setHeader('Content-Type', 'application/json').end('{"object":"list","data":[]}');
};

/** Made for the tests alone, valid until 2120. */
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
