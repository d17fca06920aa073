import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { MinioObjectStore } from '../../src/storage/minio.object-store.js';
import { startS3Proxy } from '../../test/support/s3-proxy.js';
import type { S3Proxy } from '../../test/support/s3-proxy.js';
import { startS3 } from '../../test/support/s3.js';
import type { S3 } from '../../test/support/s3.js';
import { startTcpProxy } from '../../test/support/tcp-proxy.js';
import type { TcpProxy } from '../../test/support/tcp-proxy.js';
import { serviceSettings } from '../support/session.js';
import { createWorkspace } from '../support/workspace.js';
import type { Workspace } from '../support/workspace.js';
import { startProvider } from './provider.js';
import type { Provider } from './provider.js';
import { Replica } from './replica.js';

const BUCKET = 'soak';

/** The two replicas and their dependencies, each behind a proxy that can disturb it. */
export interface Lab {
  readonly workspace: Workspace;
  /** Proxy in front of PostgreSQL, which gets a new port at every start. */
  readonly databaseProxy: TcpProxy;
  readonly databaseUrl: string;
  readonly storeProxy: S3Proxy;
  /** Direct access to the object store, without the proxy. */
  readonly bodies: MinioObjectStore;
  readonly provider: Provider;
  readonly replicas: readonly [Replica, Replica];
  dispose(): Promise<void>;
}

export async function openLab(): Promise<Lab> {
  const workspace = await createWorkspace();
  const closing: (() => Promise<unknown>)[] = [() => workspace.dispose()];
  const dispose = async () => {
    for (const close of closing.reverse()) await close();
  };
  try {
    const databaseProxy = await startTcpProxy(workspace.databaseUrl);
    closing.push(() => databaseProxy.stop());
    const databaseUrl = databaseProxy.url;
    const s3 = await startS3({ folder: join(workspace.dataDir, 's3') });
    closing.push(() => s3.stop());
    const storeProxy = await startS3Proxy(s3.endpoint);
    closing.push(() => storeProxy.stop());
    const provider = await startProvider();
    closing.push(() => provider.stop());
    const start = async (name: string, core: number) => {
      const dataDir = join(workspace.dataDir, name);
      await mkdir(dataDir);
      const settings = serviceSettings({ ...workspace, databaseUrl, dataDir });
      const replica = await Replica.start(name, core, { ...settings, ...storeSettings(s3, storeProxy) });
      closing.push(() => replica.terminate());
      return replica;
    };
    const replicas = [await start('a', 0), await start('b', 1)] as const;
    const bodies = new MinioObjectStore({ ...s3, bucket: BUCKET });
    return { workspace, databaseProxy, databaseUrl, storeProxy, bodies, provider, replicas, dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

function storeSettings(s3: S3, { endpoint }: S3Proxy): NodeJS.ProcessEnv {
  return {
    MINIO_ENDPOINT: endpoint.href,
    MINIO_ACCESS_KEY: s3.accessKey,
    MINIO_SECRET_KEY: s3.secretKey,
    MINIO_BUCKET: BUCKET,
    UPSTREAM_PRIVATE_NETWORKS: 'allow',
    DEVICE_CODES_PER_MINUTE: '100000', // all devices share one address
  };
}
