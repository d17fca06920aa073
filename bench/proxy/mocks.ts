import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.js';
import { PinnedChild } from '../support/child.js';
import type { Mock } from './gateway.js';
import { startNginx } from './nginx.js';
import { BODY_BYTES, responseBody } from './requests.js';

/** The mock upstreams. They are cheap, so that the gateway is the bottleneck. */
export interface Mocks {
  readonly ports: Readonly<Record<Mock, number>>;
  readonly children: readonly PinnedChild[];
}

/** A parameter in the configuration of nginx has at most 4 KiB, so the large body is composed of pieces. */
const PIECE_BYTES = 2_048;
const LARGE_BYTES = 102_400;

export async function startMocks(dataDir: string, core: number): Promise<Mocks> {
  const constant = await startConstantMock(dataDir, core);
  const streams = await startStreamMock(core);
  return { ports: { ...constant.ports, streams: streams.port }, children: [constant.child, streams] };
}

/** The mock upstreams whose responses are always the same: nginx. */
export async function startConstantMock(
  dataDir: string,
  core: number,
): Promise<{ child: PinnedChild; ports: Record<'plain' | 'large', number> }> {
  const [plain, large] = [await freePort(), await freePort()];
  const server = (port: number, settings: string) =>
    `server { listen 127.0.0.1:${port}; default_type application/json; location / { ${settings} } }`;
  const plainResponse = `return 200 '${responseBody(BODY_BYTES)}';`;
  const child = await startNginx({
    folder: join(dataDir, 'nginx-mock'),
    core,
    port: plain,
    http: [server(plain, plainResponse), server(large, largeResponse())].join('\n'),
  });
  return { child, ports: { plain, large } };
}

export function startStreamMock(core: number): Promise<PinnedChild> {
  return PinnedChild.startNode({ args: ['--import', 'tsx', 'bench/proxy/stream-mock.ts'], core });
}

function largeResponse(): string {
  const piece = 'b'.repeat(PIECE_BYTES);
  return `set $piece '${piece}'; return 200 '${responseBody(LARGE_BYTES).replaceAll(piece, '${piece}')}';`;
}
