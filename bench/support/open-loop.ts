import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from './connection.js';
import type { Answer } from './connection.js';

export interface OpenLoop {
  readonly port: number;
  readonly request: Buffer;
  readonly perSecond: number;
  readonly seconds: number;
}

/**
 * Sends at a fixed rate whether or not answers come, over as many keep-alive connections as that takes.
 * @throws Error when an answer is not 200, or none comes for 30 s
 */
export async function runOpenLoop({ port, request, perSecond, seconds }: OpenLoop): Promise<Answer[]> {
  const idle: Connection[] = [];
  const answers: Promise<Answer>[] = [];
  const send = async (): Promise<Answer> => {
    const connection = takeOpen(idle) ?? (await Connection.open(port));
    const answer = await connection.send(request);
    idle.push(connection);
    if (answer.status !== 200) throw new Error(`an answer with status ${answer.status}`);
    return answer;
  };
  const start = performance.now();
  for (let i = 0; i < perSecond * seconds; i++) {
    const waitMs = start + (i * 1_000) / perSecond - performance.now();
    if (waitMs > 0) await delay(waitMs);
    const answer = send();
    answer.catch(() => undefined); // told by Promise.all below
    answers.push(answer);
  }
  try {
    return await Promise.all(answers);
  } finally {
    for (const connection of idle) connection.close();
  }
}

/** Those that many requests at once have left may be closed by now. */
function takeOpen(idle: Connection[]): Connection | undefined {
  for (;;) {
    const connection = idle.pop();
    if (!connection || connection.isOpen) return connection;
  }
}
