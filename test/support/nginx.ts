import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { composeFile, configOf } from './compose.js';
import { eventually } from './eventually.js';
import { freePort } from './free-port.js';
import { NGINX_PATH } from './requirements.js';

/** The load balancer of the compose file, as a process. */
export interface Balancer {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  /** Error log so far. */
  complaints(): string;
  stop(): Promise<void>;
}

const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

/**
 * Starts nginx with the configuration that the compose file has for it; nothing but addresses and folders is replaced.
 * @param replicas their ports, in the order of the file
 * @param identityPort of what stands for the identity provider
 * @param variables of `.env`
 */
export async function startBalancer(
  replicas: readonly number[],
  identityPort: number,
  variables: Record<string, string> = {},
): Promise<Balancer> {
  const port = await freePort();
  const folder = await configurationFolder(port, replicas, identityPort, variables);
  const child = spawn(NGINX_PATH!, ['-p', folder, '-c', 'nginx.conf', '-g', 'daemon off;']);
  const lines: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => lines.push(text));
  const ended = once(child, 'close');
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(lines.join(''));
    await listening(port);
  });
  return {
    url: `http://127.0.0.1:${port}`,
    complaints: () => lines.join(''),
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Lets nginx check the configuration of the compose file. @throws Error with the report of nginx */
export async function checkConfiguration(variables: Record<string, string> = {}): Promise<void> {
  const anyPort = await freePort(); // the check binds the port
  await check(await configurationFolder(anyPort, [anyPort, anyPort], anyPort, variables));
}

/** Lets nginx check directives of the level `http`. @throws Error with the report of nginx */
export async function checkDocumentedConfiguration(directives: string): Promise<void> {
  const anyPort = await freePort();
  const complete = `pid /run/nginx.pid;\nevents {}\nhttp {\n${directives}\n}`;
  await check(await writeConfiguration((folder) => adapted(complete, folder, anyPort, [anyPort, anyPort])));
}

async function check(folder: string): Promise<void> {
  await promisify(execFile)(NGINX_PATH!, ['-t', '-p', folder, '-c', 'nginx.conf']);
  await rm(folder, { recursive: true });
}

async function configurationFolder(
  port: number,
  replicas: readonly number[],
  identityPort: number,
  variables: Record<string, string>,
): Promise<string> {
  const text = configOf(composeFile(), 'nginx', variables);
  const identity = 'http://auth:9999/';
  const complete = text.replaceAll(identity, `http://127.0.0.1:${identityPort}/`);
  if (complete === text) throw new Error(`the configuration does not have "${identity}"`);
  return writeConfiguration((folder) => adapted(complete, folder, port, replicas));
}

async function writeConfiguration(configuration: (folder: string) => string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mintkeep-nginx-'));
  await chmod(folder, 0o755); // nginx drops its rights
  await writeFile(join(folder, 'nginx.conf'), configuration(folder));
  return folder;
}

function adapted(configuration: string, folder: string, port: number, replicas: readonly number[]): string {
  const folders = TEMPORARY.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n');
  const changes: [string, string][] = [
    ['http {', `http {\n${folders}`],
    ['pid /run/nginx.pid;', `pid ${folder}/nginx.pid;`],
    ['listen 8080;', `listen 127.0.0.1:${port};`],
    ...replicas.map((replica, i): [string, string] => [`mintkeep-${i + 1}:3000`, `127.0.0.1:${replica}`]),
  ];
  return changes.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`the configuration does not have "${from}"`);
    return text.replaceAll(from, to);
  }, configuration);
}

async function listening(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect').finally(() => socket.destroy());
}
