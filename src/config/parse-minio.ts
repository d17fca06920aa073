import type { Environment } from './environment.js';
import type { MinioSettings } from './settings.js';

const WITHOUT_ENDPOINT = ['MINIO_ACCESS_KEY', 'MINIO_SECRET_KEY', 'MINIO_BUCKET', 'MINIO_REGION'] as const;

/** Undefined if no object storage is set, or if a part of it is wrong. */
export function parseMinio(env: Environment): MinioSettings | undefined {
  if (!env.has('MINIO_ENDPOINT')) {
    for (const name of WITHOUT_ENDPOINT)
      if (env.has(name)) env.wrong(name, 'is set, but MINIO_ENDPOINT is not');
    return undefined;
  }
  const endpoint = parseEndpoint(env);
  const accessKey = env.required('MINIO_ACCESS_KEY', 'with MINIO_ENDPOINT');
  const secretKey = env.required('MINIO_SECRET_KEY', 'with MINIO_ENDPOINT');
  const [bucket, region] = [env.text('MINIO_BUCKET'), env.text('MINIO_REGION')];
  if (!endpoint || accessKey === undefined || secretKey === undefined) return undefined;
  return { endpoint, accessKey, secretKey, bucket, region };
}

function parseEndpoint(env: Environment): URL | undefined {
  const endpoint = env.url('MINIO_ENDPOINT');
  if (endpoint && endpoint.href !== `${endpoint.origin}/`) {
    env.wrong('MINIO_ENDPOINT', 'must be a URL of scheme, host and port only');
  }
  return endpoint;
}
