import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PinnedChild } from '../support/child.js';

export interface NginxOptions {
  /** Made for the configuration and the files of this nginx. */
  readonly folder: string;
  readonly core: number;
  /** One that it listens on. */
  readonly port: number;
  /** What stands in `http`. */
  readonly http: string;
}

const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
const UNENDING = 'keepalive_requests 1000000000; keepalive_timeout 1h;';

/** nginx with one worker, which never closes a connection by itself. */
export async function startNginx({ folder, core, port, http }: NginxOptions): Promise<PinnedChild> {
  const file = join(folder, 'nginx.conf');
  await mkdir(folder);
  await writeFile(file, configuration(folder, http));
  const command = ['nginx', '-p', folder, '-e', 'stderr', '-c', file];
  return PinnedChild.start({ command, core, port });
}

/** A server that passes everything on to another port of this machine. */
export function passOn(port: number, target: number, settings = ''): string {
  const name = `upstream_${target}`;
  return `
    upstream ${name} { server 127.0.0.1:${target}; keepalive 256; ${UNENDING} }
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
    http { access_log off; ${paths} ${UNENDING} ${http} }`;
}
