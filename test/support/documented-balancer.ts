import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from 'node:net';
import { eventually } from './eventually.js';
import { freePort } from './free-port.js';
import { blocksOf } from './markdown.js';
import { temporaryFolder } from './service.js';

/** A running load balancer. */
export interface DocumentedBalancer {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  stop(): Promise<void>;
}

/** How to run the configuration of a load balancer that the documentation has. */
export interface DocumentedProgram {
  readonly path: string;
  /** Language of its code block. */
  readonly block: string;
  readonly args: (file: string) => readonly string[];
}

export const haproxy = (path: string): DocumentedProgram => ({
  path,
  block: 'haproxy',
  args: (file) => ['-db', '-f', file],
});

export const caddy = (path: string): DocumentedProgram => ({
  path,
  block: 'caddyfile',
  args: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
});

/** Example of `docs/load-balancers.md` in a language. */
export function documentedBlock(language: string): string {
  return blocksOf('docs/load-balancers.md').find((block) => block.language === language)!.text;
}

/** Starts a load balancer with the example of `docs/load-balancers.md`. Only addresses are replaced. */
export async function startDocumentedBalancer(
  { path, block, args }: DocumentedProgram,
  replicas: readonly number[],
): Promise<DocumentedBalancer> {
  const port = await freePort();
  const configuration = documentedBlock(block)
    .replaceAll(/mintkeep-([12]):3000/g, (_, n: string) => `127.0.0.1:${replicas[Number(n) - 1]}`)
    .replace(':8080', block === 'caddyfile' ? `http://127.0.0.1:${port}` : `127.0.0.1:${port}`);
  const folder = await temporaryFolder();
  const file = join(folder, 'configuration');
  const options = block === 'caddyfile' ? `{\n\tadmin off\n}\n` : '';
  await writeFile(file, `${options}${configuration}`);
  const env = { PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const child = spawn(path, args(file), { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (line: string) => lines.push(line));
  const ended = once(child, 'close');
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(lines.join(''));
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect').finally(() => socket.destroy());
  });
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
