import { spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PinnedChild } from '../support/child.js';

interface NginxOptions {
  /** Created for the configuration and the temporary files. */
  readonly folder: string;
  readonly core: number;
  /** A port of the configuration; nginx has started when it is open. */
  readonly port: number;
  /** Content of the block `http`. */
  readonly http: string;
}

const PROGRAM = 'nginx';
const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
const UNLIMITED = 'keepalive_requests 1000000000; keepalive_timeout 1h;';

/** nginx with one worker, which never closes a keep-alive connection. */
export async function startNginx({ folder, core, port, http }: NginxOptions): Promise<PinnedChild> {
  const file = join(folder, 'nginx.conf');
  await mkdir(folder);
  await writeFile(file, configuration(folder, http));
  const command = [PROGRAM, '-p', folder, '-e', 'stderr', '-c', file];
  return PinnedChild.start({ command, core, port });
}

/** Version such as `1.26.3`. */
export function nginxVersion(): string {
  const { stderr } = spawnSync(PROGRAM, ['-v'], { encoding: 'utf8' });
  return /nginx\/(\S+)/.exec(stderr)?.[1] ?? 'unknown';
}

/** Configuration of a server that proxies every request to another port of this machine. */
export function proxyServer(port: number, target: number, settings = ''): string {
  const name = `upstream_${target}`;
  return `
    upstream ${name} { server 127.0.0.1:${target}; keepalive 256; ${UNLIMITED} }
    server {
      listen 127.0.0.1:${port};
      location / {
        proxy_pass http://${name};
        proxy_http_version 1.1;
        proxy_set_header Connection "";
        ${settings}
      }
    }`;
}

function configuration(folder: string, http: string): string {
  const paths = TEMPORARY.map((name) => `${name}_temp_path ${join(folder, name)};`).join(' ');
  return `
    daemon off;
    worker_processes 1;
    pid ${join(folder, 'nginx.pid')};
    error_log stderr crit;
    events { worker_connections 8192; }
    http { access_log off; ${paths} ${UNLIMITED} ${http} }`;
}
