import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import S3rver from 's3rver';
import type { S3Files, S3Object } from 's3rver';

/** A running S3 service; spread it into `MinioSettings` and add a bucket. */
export interface S3 {
  readonly endpoint: URL;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly region: string;
  stop(): Promise<void>;
}

/**
 * Starts an S3 service in this process. Objects in a given `folder` stay after the end, so that the service can be
 * started again. A given `port` keeps its address.
 */
export async function startS3({ port = 0, folder }: { port?: number; folder?: string } = {}): Promise<S3> {
  const directory = folder ?? (await mkdtemp(join(tmpdir(), 'mintkeep-s3-')));
  const server = new S3rver({ address: '127.0.0.1', port, directory, silent: true, vhostBuckets: false });
  keepPromisesOfS3(server.store);
  const address = await server.run();
  return {
    endpoint: new URL(`http://127.0.0.1:${address.port}`),
    accessKey: 'S3RVER',
    secretKey: 'S3RVER',
    region: 'us-east-1',
    async stop() {
      server.httpServer.closeAllConnections();
      await server.close();
      if (folder === undefined) await rm(directory, { recursive: true, force: true });
    },
  };
}

/**
 * Corrects s3rver where it differs from S3. S3 replaces objects atomically, and every read after the response returns
 * the new object. s3rver responds before the bytes are in the file and writes into a file that readers have open. It
 * also fails to list objects during a write.
 */
function keepPromisesOfS3(files: S3Files): void {
  const oneAtATime = queue();
  const getObject = files.getObject.bind(files);
  const deleteObject = files.deleteObject.bind(files);
  const listObjects = files.listObjects.bind(files);
  files.getObject = (...args) => oneAtATime(() => getObject(...args));
  files.deleteObject = (...args) => oneAtATime(() => deleteObject(...args));
  files.listObjects = (...args) => oneAtATime(() => listObjects(...args));
  files.putObject = async (object) => {
    const body = Buffer.isBuffer(object.content) ? object.content : await buffer(object.content);
    return oneAtATime(() => replaceObject(files, object, body));
  };
}

async function replaceObject(files: S3Files, { bucket, key }: S3Object, body: Buffer) {
  const path = files.getResourcePath(bucket, key, 'object');
  const md5 = createHash('md5').update(body).digest('hex');
  await mkdir(dirname(path), { recursive: true });
  await writeFile(`${path}.new`, body);
  await files.putMetadata(bucket, key, {}, md5);
  await rename(`${path}.new`, path);
  return { size: body.length, md5 };
}

function queue(): <T>(task: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const result = last.then(task);
    last = result.catch(() => undefined);
    return result;
  };
}
