import type { Environment } from './environment.js';
import type { MinioSettings } from './settings.js';

const WITHOUT_ENDPOINT = ['MINIO_ACCESS_KEY', 'MINIO_SECRET_KEY', 'MINIO_BUCKET', 'MINIO_REGION'];

/** As S3 has them: no two dots in a row, and no IPv4 address. */
const BUCKET_NAME = /^(?!.*\.\.)(?!\d+\.\d+\.\d+\.\d+$)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

/** Undefined when no object storage is set, and while something about it is wrong. */
export function parseMinio(env: Environment): MinioSettings | undefined {
  if (!env.has('MINIO_ENDPOINT')) {
    for (const name of WITHOUT_ENDPOINT)
      if (env.has(name)) env.wrong(name, 'is set, but MINIO_ENDPOINT is not');
    return undefined;
  }
  const endpoint = parseEndpoint(env);
  const accessKey = env.required('MINIO_ACCESS_KEY', 'with MINIO_ENDPOINT');
  const secretKey = env.required('MINIO_SECRET_KEY', 'with MINIO_ENDPOINT');
  const bucket = env.matching('MINIO_BUCKET', BUCKET_NAME, 'must be a bucket name');
  if (!endpoint || accessKey === undefined || secretKey === undefined) return undefined;
  return { endpoint, accessKey, secretKey, bucket: bucket ?? 'mintkeep', region: env.text('MINIO_REGION') };
}

function parseEndpoint(env: Environment): URL | undefined {
  const endpoint = env.url('MINIO_ENDPOINT', ['http:', 'https:']);
  if (endpoint && endpoint.href !== `${endpoint.origin}/`) {
    env.wrong('MINIO_ENDPOINT', 'must be a URL of scheme, host and port only');
  }
  return endpoint;
}
