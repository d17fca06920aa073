import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.js';
import { PinnedChild } from '../support/child.js';
import type { Mock } from './gateway.js';
import { startNginx } from './nginx.js';
import { answerBody, BODY_BYTES } from './requests.js';

/** The mock upstreams, cheap enough not to be what is measured. */
export interface Mocks {
  readonly ports: Readonly<Record<Mock, number>>;
  readonly children: readonly PinnedChild[];
}

/** The longest parameter in a configuration of nginx is 4 KiB: 100 KiB are put together. */
const PIECE_BYTES = 2_048;
const LARGE_BYTES = 102_400;

export async function startMocks(dataDir: string, core: number): Promise<Mocks> {
  const [plain, large] = [await freePort(), await freePort()];
  const constant = (port: number, settings: string) =>
    `server { listen 127.0.0.1:${port}; default_type application/json; location / { ${settings} } }`;
  const answers = await startNginx({
    folder: join(dataDir, 'nginx-mock'),
    core,
    port: plain,
    http: [constant(plain, `return 200 '${answerBody(BODY_BYTES)}';`), constant(large, largeAnswer())].join(
      '\n',
    ),
  });
  const streams = await PinnedChild.startNode({
    args: ['--import', 'tsx', 'bench/proxy/stream-mock.ts'],
    core,
  });
  return { ports: { plain, large, streams: streams.port }, children: [answers, streams] };
}

function largeAnswer(): string {
  const piece = 'b'.repeat(PIECE_BYTES);
  return `set $piece '${piece}'; return 200 '${answerBody(LARGE_BYTES).replaceAll(piece, '${piece}')}';`;
}
