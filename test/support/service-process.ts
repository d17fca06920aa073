import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A service in a process of its own, with everything that it has written. */
export interface ServiceProcess {
  readonly url: string;
  output(): string;
  stop(): Promise<void>;
}

/** Starts the build (`dist`) and waits until it listens. */
export async function startProcess(variables: NodeJS.ProcessEnv): Promise<ServiceProcess> {
  const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
  const { PATH } = process.env;
  const child = spawn(process.execPath, [main], {
    env: { PATH, HOST: '127.0.0.1', PORT: '0', ...variables },
  });
  const lines: string[] = [];
  const port = new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface(stream).on('line', (line) => {
        lines.push(line);
        const listening = /listening on\s+\S+:(\d+)/.exec(line);
        if (listening) resolve(listening[1]!);
      });
    }
    child.once('exit', () => reject(new Error(`the service has not started:\n${lines.join('\n')}`)));
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  return {
    url: `http://127.0.0.1:${await port}`,
    output: () => lines.join('\n'),
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
